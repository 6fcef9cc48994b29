// Command goodfleet plans, simulates and accounts for deep-learning training on
// machines rented from clouds. Each verb has its file: flags, one call, print.
//
// Exit codes: 0 done, 1 error (usage too), 2 a check found something. Data go to
// stdout, everything else to stderr; on an error nothing is on stdout.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/document"
)

// Exit codes.
const (
	exitDone  = 0
	exitError = 1
	exitFound = 2
)

// foundError says that a check found something: the answer was printed, and it is
// not all good.
type foundError struct{ text string }

func (e *foundError) Error() string { return e.text }

func found(format string, args ...any) error { return &foundError{fmt.Sprintf(format, args...)} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run executes a command line and returns its exit code.
func run(ctx context.Context, args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	var f *foundError
	if errors.As(err, &f) {
		fmt.Fprintln(s.err, "goodfleet:", oneLine(f.Error()))
		return exitFound
	}
	fmt.Fprintln(s.err, "goodfleet:", oneLine(err.Error()))
	return exitError
}

// oneLine keeps an error on one line of bounded length, whatever was in it.
func oneLine(text string) string {
	return document.Brief(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " "))
}

// newRoot is the command with all its verbs.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "goodfleet",
		Short: "Rent the machines that train the most per dollar, and account for them",
		Long: `goodfleet rents cloud machines and places deep-learning training jobs on them, so
that each dollar trains as much as it can.

Settings come from flags, then the environment (GOODFLEET_...), then a file of
kind Config; "goodfleet config show" tells each value and where it comes from.`,
		Example: `  goodfleet simulate gavel-week        # a week of jobs on real prices, next to three baselines
  goodfleet plan five-jobs             # what would be bought and placed now, and why
  goodfleet offers --gpu V100          # what V100 machines cost, and how often they are lost`,
		Args:              noArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().String("config", "", "settings file of kind Config (default $GOODFLEET_CONFIG, else goodfleet/goodfleet.yaml in the folder for settings)")
	root.AddCommand(
		newSimulate(s), newPlan(s), newWhy(s), newOffers(s), newPrices(s), newCostReport(s), newBudget(s), newFocus(s), newGoodput(s), newAllocate(s), newAssign(s), newData(s),
		newConfig(s), newSchema(s), newExamples(s), newVersion(s),
	)
	root.InitDefaultCompletionCmd()
	for _, sub := range root.Commands() {
		if sub.Name() == "completion" { // its own way with a shell that it does not know is to say nothing
			sub.Args, sub.RunE = noArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	return root
}

// noArgs refuses words after a verb that takes none, and verbs that do not exist.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return fmt.Errorf("%s takes no %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	var verbs []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			verbs = append(verbs, sub.Name())
		}
	}
	return fmt.Errorf("unknown command %q%s; see %s --help", args[0], suggestion(args[0], verbs), cmd.CommandPath())
}

// flagError names the flag that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return fmt.Errorf("%s; see %s --help", flagComplaint(err.Error()), cmd.CommandPath())
	}
	return fmt.Errorf("unknown flag --%s%s; see %s --help", name, suggestion(name, flagNames(cmd)), cmd.CommandPath())
}

// badFlag is how pflag complains of a value; the last group is how Go's parser of
// numbers says why.
var badFlag = regexp.MustCompile(`^invalid argument (".*") for "([^"]*)" flag: (?:(strconv|time)[.:].*|(.*))$`)

// flagComplaint says what is wrong with a flag in the words of the other errors.
func flagComplaint(text string) string {
	m := badFlag.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	name := m[2]
	if long := strings.LastIndex(name, "--"); long >= 0 {
		name = name[long:]
	}
	why := m[4]
	switch {
	case m[3] == "":
	case strings.Contains(text, "strconv.ParseInt") || strings.Contains(text, "strconv.ParseUint") || strings.Contains(text, "strconv.Atoi"):
		why = "want a whole number"
	case strings.Contains(text, "strconv.ParseFloat"):
		why = "want a number"
	case strings.Contains(text, "strconv.ParseBool"):
		why = "want true or false"
	default:
		why = `want a length of time, as in "30m"`
	}
	return fmt.Sprintf("%s %s: %s", name, m[1], why)
}

// suggestion is the tail of an error about an unknown word.
func suggestion(word string, known []string) string {
	if meant, ok := document.Nearest(word, known); ok {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return ""
}
