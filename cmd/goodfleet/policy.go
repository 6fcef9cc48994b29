package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/planner/policy"
)

// policyList is what --policy is given to print all of them.
const policyList = "list"

// addPolicy is the flag by which a policy is chosen.
func addPolicy(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "policy", policy.Default, "what decides: value, min-cost, max-goodput, srpt, or a policy that shares what is owned; list prints all")
	_ = cmd.RegisterFlagCompletionFunc("policy", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		names := []string{policyList}
		for _, n := range policy.All() {
			names = append(names, n.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// printNamed prints a line for each policy.
func printNamed(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, n := range policy.All() {
		fmt.Fprintf(w, "%s\t%s\n", n.Name, n.Line)
	}
	return w.Flush()
}

// policyNamed finds the policy of --policy and checks that what it wants is there.
func policyNamed(name string, s settings, ownsSome bool) (policy.Named, error) {
	n, err := policy.ByName(name)
	switch {
	case err != nil:
		return n, fmt.Errorf("--policy: %w", err)
	case n.Capped && s.burnCap <= 0:
		return n, fmt.Errorf("--policy %s spends what it may: say how much by --burn-cap", name)
	case n.Owned && !ownsSome:
		return n, fmt.Errorf("--policy %s shares what is owned, and nothing is: name machines by --owned", name)
	}
	return n, nil
}
