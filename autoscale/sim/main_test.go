package sim

import (
	"flag"
	"os"
	"testing"
)

// checks is how often a property draws unless -rapid.checks says: a draw is a whole
// simulation, and the soak makes a thousand of them.
const checks = "25"

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", checks); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
