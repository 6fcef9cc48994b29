package store

import (
	"fmt"
	"os"
	"strings"
)

// FreezeFile is a freeze that works without the store: while a file of the store's
// name and ".freeze" lies beside it, nothing changes. The file's first line says
// why. One that is there and cannot be read freezes too.
func FreezeFile(store string) func() (why string, frozen bool) {
	path := store + ".freeze"
	return func() (string, bool) {
		text, err := os.ReadFile(path)
		switch {
		case os.IsNotExist(err):
			return "", false
		case err != nil:
			return fmt.Sprintf("%v", err), true
		}
		why, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		if why == "" {
			why = path + " is there"
		}
		return why, true
	}
}
