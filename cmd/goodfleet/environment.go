package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// environment is the variables that a command sees.
type environment map[string]string

func newEnvironment(environ []string) environment {
	env := environment{}
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		env[name] = value
	}
	return env
}

// otherVariables begin as our settings do and are none: of the settings file, the
// data folder and the make targets.
var otherVariables = []string{envPrefix + "CONFIG", envPrefix + "DATA", envPrefix + "CI_CACHE", envPrefix + "EXAMPLES", envPrefix + "HIGHS", envPrefix + "HIGHSPY", envPrefix + "FOCUS_VALIDATOR"}

// check refuses a variable that looks like a setting and is none: a cap that is
// misspelt must not be a cap that is not there.
func (env environment) check() error {
	var known []string
	for _, d := range settingList {
		known = append(known, d.env())
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !strings.HasPrefix(name, envPrefix) || env[name] == "" || slices.Contains(known, name) || slices.Contains(otherVariables, name) {
			continue
		}
		meant := suggestion(strings.TrimPrefix(name, envPrefix), trimmed(known))
		return fmt.Errorf("environment %s: no such setting%s", name, meant)
	}
	return nil
}

func trimmed(names []string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = strings.TrimPrefix(name, envPrefix)
	}
	return list
}

// settingsFile is where a settings file lies when none is named; "" when there is
// no home.
func (env environment) settingsFile() string {
	if dir := env["XDG_CONFIG_HOME"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, "goodfleet", "goodfleet.yaml")
	}
	if home := env["HOME"]; home != "" {
		return filepath.Join(home, ".config", "goodfleet", "goodfleet.yaml")
	}
	return ""
}

// defaultQuarantine is where prices are put aside when no file is named.
func defaultQuarantine() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "goodfleet", "quarantine.json")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return filepath.Join("out", "quarantine.json")
	}
	return filepath.Join(home, ".local", "state", "goodfleet", "quarantine.json")
}
