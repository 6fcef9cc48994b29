package imports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestModuleKeepsItsArrows(t *testing.T) {
	root := filepath.Join("..", "..")
	list, err := Scan(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 50 {
		t.Fatalf("read %d imports of %s: that cannot be the whole module", len(list), root)
	}
	for _, bad := range Violations(list) {
		t.Error(bad)
	}
}

func TestWrongArrowIsNamed(t *testing.T) {
	const ours = module
	for _, tc := range []struct {
		name     string
		from, to string
		test     bool
		want     string // part of the complaint; "": allowed
	}{
		{"root to its child", "pricing", ours + "pricing/ledger", false, "no arrow from pricing to pricing/ledger"},
		{"supply to money", "provider", ours + "pricing", false, "no arrow"},
		{"planner to the loop", "planner/policy", ours + "autoscale", false, "no arrow"},
		{"loop to documents", "autoscale", ours + "autoscale/document", false, "no arrow"},
		{"planner to documents", "planner", ours + "autoscale/document", false, "no arrow"},
		{"loop to the fake cloud", "autoscale", ours + "provider/fake", false, "no arrow"},
		{"loop's test to the fake cloud", "autoscale", ours + "provider/fake", true, ""},
		{"leaf to its root", "planner/throughput", ours + "planner", false, "no arrow"},
		{"package nobody listed", "util", ours + "provider", false, "no arrow"},
		{"simulator to the fake cloud", "autoscale/sim", ours + "provider/fake", false, ""},
		{"simulator to a policy", "autoscale/sim", ours + "planner/policy", false, ""},
		{"command to anything", "cmd/goodfleet", ours + "provider/aws", false, ""},
		{"store to documents", "autoscale/store", ours + "autoscale/document", false, ""},
		{"external test of itself", "planner", ours + "planner", true, ""},
		{"itself outside a test", "planner", ours + "planner", false, "no arrow"},
		{"SQL outside the store", "autoscale", "database/sql", false, "belongs to autoscale/store"},
		{"a driver of SQL outside the store", "cmd/goodfleet", "modernc.org/sqlite", false, "belongs to autoscale/store"},
		{"SQL in the store", "autoscale/store", "database/sql", false, ""},
		{"SDK outside its driver", "autoscale", "github.com/aws/aws-sdk-go-v2/service/ec2", false, "belongs to provider/aws"},
		{"SDK in another cloud's driver", "provider/gcp", "github.com/aws/aws-sdk-go-v2/config", false, "belongs to"},
		{"SDK in its driver", "provider/aws", "github.com/aws/aws-sdk-go-v2/service/ec2", false, ""},
		{"cobra below cmd", "autoscale/report", "github.com/spf13/cobra", false, "belongs to cmd"},
		{"viper below cmd", "planner", "github.com/spf13/viper", true, "belongs to cmd"},
		{"cobra in cmd", "cmd/goodfleet", "github.com/spf13/cobra", false, ""},
		{"another reader of YAML", "cmd/goodfleet", "gopkg.in/yaml.v3", false, "not used here"},
		{"global randomness", "autoscale/sim", "math/rand", false, "not used here"},
		{"seeded randomness", "autoscale/sim", "math/rand/v2", false, ""},
		{"global log", "autoscale", "log", false, "belongs to pricing/data"},
		{"structured log", "autoscale", "log/slog", false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := strings.Join(Violations([]Import{{From: tc.from, To: tc.to, File: "x.go", Test: tc.test}}), "; ")
			if tc.want == "" && got != "" {
				t.Errorf("refused: %s", got)
			}
			if tc.want != "" && !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want a complaint with %q", got, tc.want)
			}
		})
	}
}

func TestScanSeesTaggedFilesAndNotOtherModules(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/a.go":               "//go:build live\n\npackage a\n\nimport \"database/sql\"\n",
		"a/a_test.go":          "package a\n\nimport \"testing\"\n",
		"other/go.mod":         "module other\n",
		"other/b.go":           "package b\n\nimport \"fmt\"\n",
		".hidden/c.go":         "package c\n\nimport \"fmt\"\n",
		"a/testdata/broken.go": "not Go\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := Scan(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0] != (Import{From: "a", To: "database/sql", File: "a/a.go"}) || !list[1].Test {
		t.Errorf("got %+v, want the tagged file and the test of a", list)
	}
	if bad := Violations(list); len(bad) != 1 {
		t.Errorf("violations %q, want the import of database/sql alone", bad)
	}
}
