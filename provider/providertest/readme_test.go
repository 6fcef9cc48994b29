package providertest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/provider/providertest"
)

func TestReadmeListsEveryClause(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range providertest.Clauses() {
		if row := "| `" + c.Name + "` | " + c.Law + " |"; !strings.Contains(string(text), row) {
			t.Errorf("README.md lacks the row %s", row)
		}
	}
}
