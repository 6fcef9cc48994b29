package main

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestPlanDocumentNamesEveryField holds docs/plan.md, the contract of plan's JSON,
// to the types that are written.
func TestPlanDocumentNamesEveryField(t *testing.T) {
	text, err := os.ReadFile("docs/plan.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[planAnswer](), reflect.TypeFor[planBound](), reflect.TypeFor[planJob](), reflect.TypeFor[planRunnerUp](),
		reflect.TypeFor[planMachine](), reflect.TypeFor[planShare](), reflect.TypeFor[planRelease](),
	} {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name != "" && !strings.Contains(string(text), "`"+name+"`") && !strings.Contains(string(text), "."+name+"`") {
				t.Errorf("%s: field %s is not explained", typ.Name(), name)
			}
		}
	}
}
