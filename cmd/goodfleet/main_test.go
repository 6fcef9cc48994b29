package main

import (
	"flag"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what is compared in scripts anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"goodfleet": main})
}

// TestScripts runs the command lines of testdata/script, each in a folder and with
// an environment of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/settings")
			env.Setenv("XDG_STATE_HOME", env.WorkDir+"/state")
			env.Setenv("NO_COLOR", "1")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code": code, "oneline": oneLineOnly,
		},
	})
}

// code runs goodfleet and wants an exit code: code 2 prices check bad.csv.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: code N ARG...")
	}
	err := ts.Exec("goodfleet", args[1:]...)
	got := "0"
	if err != nil {
		var exit interface{ ExitCode() int }
		if !asExit(err, &exit) {
			ts.Fatalf("run: %v", err)
		}
		got = string(rune('0' + exit.ExitCode()))
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s\nstdout: %s\nstderr: %s", got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// oneLineOnly wants nothing on stdout and exactly one line on stderr after the
// last command.
func oneLineOnly(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: oneline")
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("on stdout: %q", out)
	}
	if text := ts.ReadFile("stderr"); !isOneLine(text) {
		ts.Fatalf("on stderr, in place of one line: %q", text)
	}
}
