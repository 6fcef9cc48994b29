package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newData(s streams) *cobra.Command {
	data := &cobra.Command{
		Use:   "data",
		Short: "Bring public data that may not be passed on with the program",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	data.AddCommand(newDataFetch(s))
	return data
}

// dataConfig is what the fetch verb of data is asked.
type dataConfig struct {
	sets   []string  // names of sets; none: all
	folder string    // where they go
	mirror string    // where they come from
	bar    io.Writer // where the progress bar goes
}

// publicHome is where the files of public repositories are read.
const publicHome = "https://raw.githubusercontent.com"

func newDataFetch(s streams) *cobra.Command {
	cfg := dataConfig{bar: s.err}
	cmd := &cobra.Command{
		Use:   "fetch [SET...]",
		Short: "Fetch the measurements and workloads of Pollux and Sia from their homes",
		Long: `Fetch public data sets (pollux, sia; all when none is named) from their authors'
repositories, each file at a fixed commit and with a fixed SHA-256: one that is not
what it was is refused. They carry no licence to pass them on, and so are not in this
program. They go, packed, into $GOODFLEET_DATA, else goodfleet in the folder for data
of programs; files that are there and whole are not fetched again.`,
		Example: `  goodfleet data fetch
  goodfleet data fetch sia --to ~/data
  goodfleet data fetch --mirror https://mirror.example.org/github`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg.sets = args
			return runDataFetch(cmd.Context(), s.out, cfg)
		},
	}
	cmd.Flags().StringVar(&cfg.folder, "to", defaultData(), "folder that the data go to")
	cmd.Flags().StringVar(&cfg.mirror, "mirror", publicHome, "where the files are read: there follow repository, commit and path")
	return cmd
}

// defaultData is where data lie when no folder is named.
func defaultData() string {
	if dir := os.Getenv(envPrefix + "DATA"); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "goodfleet")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "data"
	}
	return filepath.Join(home, ".local", "share", "goodfleet")
}

func runDataFetch(ctx context.Context, w io.Writer, cfg dataConfig) error {
	all, err := dataFiles()
	if err != nil {
		return err
	}
	var sets []string
	for _, f := range all {
		if !slices.Contains(sets, f.set) {
			sets = append(sets, f.set)
		}
	}
	for _, name := range cfg.sets {
		if !slices.Contains(sets, name) {
			return fmt.Errorf("there is no data set %q: want %s", name, strings.Join(sets, " or "))
		}
	}
	wanted := slices.DeleteFunc(all, func(f dataFile) bool { return len(cfg.sets) > 0 && !slices.Contains(cfg.sets, f.set) })
	bar := progress(cfg.bar, int64(len(wanted)), "fetching")
	there, err := fetchAll(ctx, cfg, wanted, func() { _ = bar.Add(1) })
	_ = bar.Finish()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s are in %s, %d fetched now\n", counted(len(wanted), "file"), cfg.folder, len(wanted)-there)
	return err
}
