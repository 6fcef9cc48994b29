//go:build data

package goodput

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAnswersAreThoseOfTheExamples reads inputs with right answers from outside.
func TestAnswersAreThoseOfTheExamples(t *testing.T) {
	root := os.Getenv("GOODFLEET_EXAMPLES")
	if root == "" {
		t.Fatal("GOODFLEET_EXAMPLES is not set: it names the folder of goodput.json")
	}
	checkCases(t, filepath.Join(root, "goodput.json"))
}
