package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed examples/*.yaml
var exampleFiles embed.FS

// exampleNames lists the jobs files that the program carries, sorted.
func exampleNames() []string {
	entries, err := exampleFiles.ReadDir("examples")
	if err != nil {
		return nil // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// example is the text of an example. ok is false when there is none of that name.
func example(name string) (text []byte, ok bool) {
	text, err := exampleFiles.ReadFile("examples/" + name + ".yaml")
	return text, err == nil
}

func newExamples(s streams) *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "examples [NAME]",
		Short: "Print a shipped jobs file, list them, or write them into a folder",
		Example: `  goodfleet examples
  goodfleet examples five-jobs > jobs.yaml
  goodfleet examples --into jobs`,
		Args:      atMost(1, "NAME"),
		ValidArgs: exampleNames(),
		RunE:      func(_ *cobra.Command, args []string) error { return runExamples(s.out, args, folder) },
	}
	cmd.Flags().StringVar(&folder, "into", "", "write every example, or the one named, as a file into this folder")
	return cmd
}

func runExamples(w io.Writer, args []string, folder string) error {
	names := exampleNames()
	if len(args) == 1 {
		if _, ok := example(args[0]); !ok {
			return fmt.Errorf("examples: no example %q%s", args[0], suggestion(args[0], names))
		}
		names = args
	}
	if folder != "" {
		return writeExamples(w, names, folder)
	}
	if len(args) == 0 {
		_, err := fmt.Fprintln(w, strings.Join(names, "\n"))
		return err
	}
	text, _ := example(args[0])
	_, err := w.Write(text)
	return err
}

// writeExamples writes files that are not there yet.
func writeExamples(w io.Writer, names []string, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("examples: %w", err)
	}
	for _, name := range names {
		text, _ := example(name)
		path := filepath.Join(folder, name+".yaml")
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return fmt.Errorf("examples: %w", err)
		}
		_, err = file.Write(text)
		if err := errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("examples: write %s: %w", path, err)
		}
		if _, err := fmt.Fprintln(w, path); err != nil {
			return err
		}
	}
	return nil
}

// readJobsFile reads a file, an example by its name, or "-" for in.
func readJobsFile(name string, in io.Reader) (file string, text []byte, err error) {
	if name == "-" {
		text, err = readAll(in, "stdin", mostDocument)
		return "stdin", text, err
	}
	text, err = readFile(name)
	if err == nil {
		return name, text, nil
	}
	if shipped, ok := example(name); ok && errors.Is(err, fs.ErrNotExist) {
		return name + ".yaml", shipped, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("%s: no such file, and no example of that name%s", name, suggestion(name, exampleNames()))
	}
	return "", nil, err
}
