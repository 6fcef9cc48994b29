package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newConfig(s streams) *cobra.Command {
	config := &cobra.Command{
		Use:   "config",
		Short: "Show the settings and where they come from",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	show := &cobra.Command{
		Use:   "show",
		Short: "Print every setting, its value and its origin",
		Long: `Print every setting, its value and its origin: a flag, a variable of the
environment, a line of a file, or the default. The first of these that is given
wins.`,
		Example: `  goodfleet config show
  GOODFLEET_BURN_CAP="40 USD/h" goodfleet config show -o json
  goodfleet config show --config fleet.yaml --seed 7`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runConfigShow(s.out, cmd) },
	}
	var keys []string
	for _, d := range settingList {
		keys = append(keys, d.key)
	}
	addSettings(show, keys...)
	config.AddCommand(show)
	return config
}

// settingRow is a setting as config show prints it.
type settingRow struct {
	Setting  string  `json:"setting"`
	Value    *string `json:"value"` // null: not set
	Origin   string  `json:"origin"`
	Flag     string  `json:"flag"`
	Variable string  `json:"variable"`
}

func runConfigShow(w io.Writer, cmd *cobra.Command) error {
	s, err := readSettings(cmd)
	if err != nil {
		return err
	}
	a := answer{grid: grid{head: []string{"setting", "value", "origin"}}}
	var rows []settingRow
	for _, d := range settingList {
		row := settingRow{Setting: d.key, Origin: s.origins[d.key], Flag: "--" + d.flag, Variable: d.env()}
		shown := unknown
		if value := s.values[d.key]; value != "" {
			row.Value, shown = &value, value
		}
		rows = append(rows, row)
		a.grid.rows = append(a.grid.rows, []string{d.key, shown, row.Origin})
	}
	if s.config != nil {
		for _, table := range []struct {
			key string
			n   int
		}{{"owned", len(s.config.Spec.Owned)}, {"quotas", len(s.config.Spec.Quotas)}, {"destinations", len(s.config.Spec.Destinations)}} {
			if table.n > 0 {
				a.grid.notes = append(a.grid.notes, fmt.Sprintf("%s: %s in the file", table.key, counted(table.n, "row")))
			}
		}
	}
	a.data = rows
	return a.print(w, s.output)
}
