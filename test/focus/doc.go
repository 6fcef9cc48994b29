// Package focus holds our export against the official validator of FOCUS: what it
// finds is either nothing, or listed here with the reason, and then shown to be no
// fault of the file. Behind the build tag focus; make test-focus installs what it
// needs.
package focus
