package document

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/pricing"
)

//go:embed schema/*.json
var schemaFiles embed.FS

// kinds lists the documents that there are. A new kind is a line here, its Go
// type and its schema.
var kinds = []struct {
	name string
	file string
	make func() any
}{
	{"BudgetPolicy", "schema/budgetpolicy.json", func() any { return new(BudgetPolicy) }},
	{"Config", "schema/config.json", func() any { return new(Config) }},
	{"Fleet", "schema/fleet.json", func() any { return new(Fleet) }},
	{"Profile", "schema/profile.json", func() any { return new(goodput.ProfileDocument) }},
	{"Sweep", "schema/sweep.json", func() any { return new(Sweep) }},
	{"TrainingJob", "schema/trainingjob.json", func() any { return new(TrainingJob) }},
}

// Kinds lists the kinds of documents by name.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// schemaHome is where the $id of each schema lies.
const schemaHome = "https://github.com/goodfleet/goodfleet/schema/v1/"

// Schema is the published JSON Schema (draft 2020-12) of a kind. ok is false when
// there is no such kind. The formats that begin with "goodfleet-" are those of
// this package: a reader that does not know them may ignore them.
func Schema(name string) (text []byte, ok bool) {
	for _, k := range kinds {
		if k.name == name {
			text, err := schemaFiles.ReadFile(k.file)
			return text, err == nil
		}
	}
	return nil, false
}

// compiled is a schema ready for use, and as it is written.
type compiled struct {
	schema *jsonschema.Schema
	raw    map[string]any
}

// schemas compiles every schema once.
var schemas = sync.OnceValues(func() (map[string]compiled, error) {
	all := make(map[string]compiled, len(kinds))
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for _, f := range formats {
		compiler.RegisterFormat(&jsonschema.Format{Name: f.name, Validate: func(v any) error {
			text, ok := v.(string)
			if !ok {
				return nil // its type is wrong, which the schema says itself
			}
			return f.check(text)
		}})
	}
	for _, k := range kinds {
		text, err := schemaFiles.ReadFile(k.file)
		if err != nil {
			return nil, err
		}
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.file, err)
		}
		raw, ok := parsed.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: is no object", k.file)
		}
		if err := compiler.AddResource(schemaHome+path.Base(k.file), parsed); err != nil {
			return nil, fmt.Errorf("%s: %w", k.file, err)
		}
		all[k.name] = compiled{raw: raw}
	}
	for _, k := range kinds { // one may refer to another
		schema, err := compiler.Compile(schemaHome + path.Base(k.file))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.file, err)
		}
		all[k.name] = compiled{schema, all[k.name].raw}
	}
	return all, nil
})

// formats are the texts that a schema names and this package reads.
var formats = []struct {
	name  string
	check func(string) error
}{
	{"goodfleet-name", checkName},
	{"goodfleet-text", checkText},
	{"goodfleet-duration", func(s string) error { _, err := ParseDuration(s); return err }},
	{"goodfleet-interval", func(s string) error { _, err := ParseInterval(s); return err }},
	{"goodfleet-size", func(s string) error { _, err := ParseSize(s); return err }},
	{"goodfleet-amount", func(s string) error { m, err := pricing.ParseAmount(s); return positive(s, int64(m), err) }},
	{"goodfleet-rate", func(s string) error { r, err := pricing.ParseHourly(s); return positive(s, int64(r), err) }},
	{"goodfleet-percent", func(s string) error { _, err := ParsePercent(s); return err }},
	{"goodfleet-time", checkTime},
	{"goodfleet-moment", func(s string) error { _, err := ParseMoment(s); return err }},
}

func positive(text string, nano int64, err error) error {
	if err == nil && nano <= 0 {
		return fmt.Errorf("%q: want more than 0", text)
	}
	return err
}

// nameText is what clouds take as the value of a tag.
var nameText = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N} _.:/=+@-]*$`)

// checkName refuses a name that could not be written on a machine's tag.
func checkName(s string) error {
	if !nameText.MatchString(s) || strings.HasSuffix(s, " ") {
		return fmt.Errorf("%q: want letters, digits, spaces and _.:/=+-@, beginning with a letter or digit", s)
	}
	return nil
}

// checkText refuses what no field of one line holds.
func checkText(s string) error {
	if strings.ContainsFunc(s, unicode.IsControl) || strings.TrimSpace(s) != s {
		return fmt.Errorf("%q: want one line of text without space around it", s)
	}
	return nil
}

func checkTime(s string) error {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf(`%q is no time: want RFC 3339, as in "2026-12-24T18:00:00Z"`, s)
	}
	if t.Year() < 1970 || t.Year() > 2200 {
		return fmt.Errorf("%q: want a year from 1970 to 2200", s)
	}
	return nil
}
