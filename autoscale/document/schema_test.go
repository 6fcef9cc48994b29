package document

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// TestSchemasHoldTheFieldsOfTheirTypes walks Go types and schemas side by side:
// each field is in both, with a type that the other can hold, and a field that may
// be absent in one may be absent in the other.
func TestSchemasHoldTheFieldsOfTheirTypes(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			text, ok := Schema(k.name)
			if !ok {
				t.Fatal("no schema")
			}
			var schema map[string]any
			if err := json.Unmarshal(text, &schema); err != nil {
				t.Fatal(err)
			}
			if got, want := schema["$schema"], "https://json-schema.org/draft/2020-12/schema"; got != want {
				t.Errorf("$schema %v, want %s", got, want)
			}
			if got := schema["title"]; got != k.name {
				t.Errorf("title %v, want %s", got, k.name)
			}
			compareFields(t, k.name, reflect.TypeOf(k.make()).Elem(), schema)
		})
	}
}

func compareFields(t *testing.T, path string, goType reflect.Type, schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	if schema["additionalProperties"] != false {
		t.Errorf("%s: the schema lets unknown keys pass", path)
	}
	required := map[string]bool{}
	list, _ := schema["required"].([]any)
	for _, name := range list {
		required[name.(string)] = true
		if properties[name.(string)] == nil {
			t.Errorf("%s: requires %s, which it does not have", path, name)
		}
	}
	for i := range goType.NumField() {
		field := goType.Field(i)
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		property, ok := properties[name].(map[string]any)
		if name == "with" && field.Type == reflect.TypeFor[planner.JobID]() {
			continue // who shares with a job is planned: people do not say it
		}
		if !ok {
			t.Errorf("%s.%s: field %s is not in the schema", path, name, field.Name)
			continue
		}
		delete(properties, name)
		optional := strings.Contains(option, "omit")
		if optional == required[name] && path != "TrainingJob.spec.throughput.table" {
			t.Errorf("%s.%s: required in the schema: %t, optional in the type: %t", path, name, required[name], optional)
		}
		compareTypes(t, path+"."+name, field.Type, property)
	}
	for name := range properties {
		t.Errorf("%s.%s: is in the schema alone", path, name)
	}
}

func compareTypes(t *testing.T, path string, goType reflect.Type, schema map[string]any) {
	if goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	if ref, ok := schema["$ref"]; ok {
		for _, k := range kinds { // the type that it refers to is compared by itself
			if "schema/"+ref.(string) == k.file && reflect.TypeOf(k.make()).Elem() == goType {
				return
			}
		}
		t.Errorf("%s: refers to %v, which is no schema of %s", path, ref, goType)
		return
	}
	want := ""
	switch goType {
	case reflect.TypeFor[Replicas]():
		compareFields(t, path, reflect.TypeFor[replicaRange](), schema)
		return
	case reflect.TypeFor[provider.Market]():
		for _, word := range schema["enum"].([]any) {
			if _, err := provider.ParseMarket(word.(string)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		return
	case reflect.TypeFor[Duration]():
		want = "goodfleet-duration"
	case reflect.TypeFor[Interval]():
		want = "goodfleet-interval"
	case reflect.TypeFor[Size]():
		want = "goodfleet-size"
	case reflect.TypeFor[Amount]():
		want = "goodfleet-amount"
	case reflect.TypeFor[Hourly]():
		want = "goodfleet-rate"
	case reflect.TypeFor[Percent]():
		want = "goodfleet-percent"
	case reflect.TypeFor[Moment]():
		want = "goodfleet-moment"
	}
	if goType.String() == "time.Time" {
		want = "goodfleet-time"
	}
	if want != "" {
		if schema["format"] != want {
			t.Errorf("%s: format %v, want %s", path, schema["format"], want)
		}
		return
	}
	if schema["enum"] != nil || schema["const"] != nil {
		if goType.Kind() != reflect.String {
			t.Errorf("%s: words in the schema, %s in the type", path, goType)
		}
		return
	}
	words := map[reflect.Kind]string{
		reflect.String: "string", reflect.Int: "integer", reflect.Uint64: "integer", reflect.Float64: "number", reflect.Bool: "boolean",
		reflect.Struct: "object", reflect.Slice: "array",
	}
	if schema["type"] != words[goType.Kind()] {
		t.Errorf("%s: type %v in the schema, %s in Go", path, schema["type"], goType)
	}
	switch goType.Kind() {
	case reflect.Struct:
		compareFields(t, path, goType, schema)
	case reflect.Slice:
		compareTypes(t, path, goType.Elem(), schema["items"].(map[string]any))
	}
}

func TestSchemaIsThereForEachKindAndNoOther(t *testing.T) {
	for _, name := range Kinds() {
		if text, ok := Schema(name); !ok || !json.Valid(text) {
			t.Errorf("%s: no JSON", name)
		}
	}
	if text, ok := Schema("Profil"); ok {
		t.Errorf("a schema of Profil: %s", text)
	}
}
