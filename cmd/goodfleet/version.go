package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker to the tag or commit of a build.
var version = ""

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version and what it was built with",
		Example: "  goodfleet version",
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return runVersion(s.out) },
	}
}

func runVersion(w io.Writer) error {
	text := version
	if info, ok := debug.ReadBuildInfo(); ok && text == "" {
		text = info.Main.Version
	}
	if text == "" {
		text = unknown
	}
	_, err := fmt.Fprintf(w, "goodfleet %s (%s, %s/%s)\n", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
