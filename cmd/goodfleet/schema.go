package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/document"
)

func newSchema(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [KIND]",
		Short: "Print the JSON Schema of a kind of document, or list the kinds",
		Example: `  goodfleet schema
  goodfleet schema TrainingJob > trainingjob.schema.json`,
		Args:      atMost(1, "KIND"),
		ValidArgs: document.Kinds(),
		RunE:      func(_ *cobra.Command, args []string) error { return runSchema(s.out, args) },
	}
}

func runSchema(w io.Writer, args []string) error {
	if len(args) == 0 {
		_, err := fmt.Fprintln(w, strings.Join(document.Kinds(), "\n"))
		return err
	}
	text, ok := document.Schema(args[0])
	if !ok {
		return fmt.Errorf("schema: unknown kind %q%s", args[0], suggestion(args[0], document.Kinds()))
	}
	_, err := w.Write(text)
	return err
}
