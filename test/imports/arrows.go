package imports

import (
	"fmt"
	"slices"
	"strings"
)

// module is the prefix of every import of our own.
const module = "github.com/goodfleet/goodfleet/"

// below names what a whole layer may import, so that the lists stay short.
var (
	leaves        = []string{"planner/goodput", "planner/throughput", "planner/numeral", "planner/linear", "planner/block", "planner/whole", "planner/deadline"}
	belowPlanner  = slices.Concat(leaves, []string{"pricing", "provider"})
	belowPolicy   = slices.Concat(belowPlanner, []string{"planner"})
	belowLoop     = slices.Concat(belowPolicy, []string{"planner/policy", "pricing/ledger", "pricing/budget", "autoscale/placement", "autoscale/schedule"})
	loopAndBelow  = slices.Concat(belowLoop, []string{"autoscale"})
	anythingOfOur = []string{"..."}
)

// allowed maps a package to those of ours that its code may import. A package
// that is not listed may import none of ours; "..." means any.
var allowed = map[string][]string{
	"provider":              {},
	"provider/aws":          {"provider"},
	"provider/gcp":          {"provider"},
	"provider/fake":         {"provider"},
	"provider/providertest": {"provider"},

	"pricing":          {"provider"},
	"pricing/awsprice": {"pricing", "provider"},
	"pricing/gcpprice": {"pricing", "provider"},
	"pricing/ledger":   {"pricing", "provider"},
	"pricing/budget":   {"pricing", "provider"},
	"pricing/focus":    {"pricing", "pricing/ledger", "provider"}, // bills: a ledger in the form of the standard, and back

	"planner":            belowPlanner,
	"planner/numeral":    {}, // numbers of files, for all that read them
	"planner/goodput":    {"planner/numeral"},
	"planner/throughput": {"planner/numeral"},
	"planner/linear":     {},
	"planner/block":      {"planner/linear"},
	"planner/whole":      {"planner/block", "planner/linear"},
	"planner/deadline":   {}, // rules on hours and rates alone, as their replays on traces need them
	"planner/share":      {"planner/block", "planner/linear", "planner/numeral", "planner/whole"},
	"planner/policy":     slices.Concat(belowPolicy, []string{"planner/share"}), // its rules on fractions, for turns on what is owned

	"autoscale/placement":      {"planner", "provider"},
	"autoscale/schedule":       {}, // when windows are open: for the loop that heeds them and the documents that give them
	"autoscale/document":       {"autoscale/schedule", "planner", "planner/goodput", "planner/numeral", "planner/throughput", "pricing", "pricing/ledger", "pricing/budget", "provider"},
	"autoscale":                belowLoop,
	"autoscale/store":          slices.Concat(loopAndBelow, []string{"autoscale/document"}),
	"autoscale/runner":         loopAndBelow,
	"autoscale/runner/process": slices.Concat(loopAndBelow, []string{"autoscale/runner"}),
	"autoscale/runner/kube":    slices.Concat(loopAndBelow, []string{"autoscale/runner"}),
	"autoscale/server":         slices.Concat(loopAndBelow, []string{"autoscale/document", "autoscale/client"}),
	"autoscale/client":         {"autoscale/document"},
	"autoscale/node":           slices.Concat(loopAndBelow, []string{"autoscale/client"}),
	"autoscale/sim/workload":   {"planner", "planner/numeral", "planner/throughput", "pricing", "provider"},
	"autoscale/sim/measured":   {"planner", "planner/goodput", "planner/numeral"},         // what jobs really do
	"autoscale/sim/peer":       {"planner", "planner/share", "planner/whole", "provider"}, // published schedulers: they plan for the loop, and know none; the limits of their searches of whole configs
	"autoscale/sim":            slices.Concat(loopAndBelow, []string{"autoscale/store", "provider/fake"}),
	"autoscale/sim/sweep":      {"autoscale/sim"},                                                            // many of them, with a row of each
	"autoscale/report":         slices.Concat(loopAndBelow, []string{"autoscale/sim", "autoscale/document"}), // names are shown as they are in errors

	"test/replay": anythingOfOur, // a program that runs published experiments through all of it

	"terraform/provider": {"autoscale/client", "autoscale/document"},
	"cmd/goodfleet":      anythingOfOur,
}

// allowedInTests maps a package to what its tests may import beside that: the
// fake cloud in place of mocks, and a real store. Packages below test may import all.
var allowedInTests = map[string][]string{
	"provider/providertest": {"provider/fake"},
	"pricing/ledger":        {"provider/fake"},
	"planner/policy":        {"autoscale/document"},
	"autoscale":             {"autoscale/store", "provider/fake"},
	"autoscale/placement":   {"pricing", "provider/fake"},
	"autoscale/store":       {"provider/fake"},
	"autoscale/report":      {"provider/fake", "autoscale/store"},
	"autoscale/sim":         {"autoscale/sim/workload"},
	"autoscale/sim/peer":    {"autoscale", "autoscale/placement", "autoscale/sim", "planner/throughput", "pricing", "provider/fake"},
	"autoscale/sim/sweep":   {"autoscale", "autoscale/sim/peer", "planner", "pricing", "provider"},
}

// homes maps the start of a foreign import path to the only packages that may
// import it; "x/..." means x and all below.
var homes = []struct {
	foreign string
	only    []string
}{
	{"database/sql", []string{"autoscale/store"}},
	{"modernc.org/sqlite", []string{"autoscale/store"}},
	{"github.com/jackc/pgx", []string{"autoscale/store"}},
	{"github.com/aws/aws-sdk-go-v2", []string{"provider/aws", "pricing/awsprice", "cmd/..."}},
	{"cloud.google.com/go", []string{"provider/gcp", "pricing/gcpprice", "cmd/..."}},
	{"google.golang.org/api", []string{"provider/gcp", "pricing/gcpprice", "cmd/..."}},
	{"k8s.io", []string{"autoscale/runner/kube", "cmd/..."}},
	{"github.com/hashicorp/terraform-plugin-framework", []string{"terraform/provider"}},
	{"cel.dev/cel-go", []string{"pricing/budget"}},
	{"github.com/spf13/cobra", []string{"cmd/..."}},
	{"github.com/spf13/viper", []string{"cmd/..."}},
	{"github.com/spf13/pflag", []string{"cmd/..."}},
	{"github.com/schollz/progressbar", []string{"cmd/..."}},
	{"golang.org/x/term", []string{"cmd/..."}},
	{"github.com/goccy/go-yaml", []string{"autoscale/document", "cmd/..."}},
	{"github.com/santhosh-tekuri/jsonschema", []string{"autoscale/document"}},
	{"gonum.org/v1/plot", []string{"autoscale/report"}},
	{"gopkg.in/yaml", nil},
	{"math/rand", nil},                // math/rand/v2 with a seeded source, always
	{"log", []string{"pricing/data"}}, // a program that go run starts; elsewhere log/slog, passed in
}

// exact are the foreign paths of homes that do not stand for the packages below them.
var exact = []string{"math/rand", "log"}

// Import is one import line: of a package of ours, by a path relative to the module.
type Import struct {
	From string // "autoscale/sim"
	To   string // the path as written
	File string
	Test bool // in a _test.go file
}

// Violations lists every import that no arrow allows, in the order given.
func Violations(list []Import) []string {
	var bad []string
	for _, i := range list {
		if reason := refuse(i); reason != "" {
			bad = append(bad, fmt.Sprintf("%s: %s imports %s: %s", i.File, i.From, i.To, reason))
		}
	}
	return bad
}

// refuse says why i is not allowed; "" when it is.
func refuse(i Import) string {
	if to, ours := strings.CutPrefix(i.To, module); ours {
		switch {
		case to == i.From && i.Test: // an external test of the package itself
		case matches(allowed[i.From], to):
		case i.Test && matches(testArrows(i.From), to):
		default:
			return "no arrow from " + i.From + " to " + to
		}
		return ""
	}
	for _, h := range homes {
		if !covers(h.foreign, i.To) || matches(h.only, i.From) {
			continue
		}
		if len(h.only) == 0 {
			return h.foreign + " is not used here"
		}
		return h.foreign + " belongs to " + strings.Join(h.only, ", ")
	}
	return ""
}

func testArrows(from string) []string {
	if strings.HasPrefix(from, "test/") {
		return anythingOfOur
	}
	return allowedInTests[from]
}

// covers reports whether path is foreign or lies below it.
func covers(foreign, path string) bool {
	return path == foreign ||
		!slices.Contains(exact, foreign) && (strings.HasPrefix(path, foreign+"/") || strings.HasPrefix(path, foreign+"."))
}

// matches reports whether one of the patterns names pkg.
func matches(patterns []string, pkg string) bool {
	for _, p := range patterns {
		prefix, open := strings.CutSuffix(p, "...")
		prefix = strings.TrimSuffix(prefix, "/")
		if p == pkg || open && (prefix == "" || pkg == prefix || strings.HasPrefix(pkg, prefix+"/")) {
			return true
		}
	}
	return false
}
