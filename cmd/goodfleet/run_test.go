package main

import (
	"errors"
	"strings"
)

func asExit(err error, target *interface{ ExitCode() int }) bool { return errors.As(err, target) }

func isOneLine(text string) bool {
	return strings.HasPrefix(text, "goodfleet: ") && strings.Count(text, "\n") == 1 && strings.HasSuffix(text, "\n")
}
