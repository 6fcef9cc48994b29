// Package examples holds the shipped example workloads to the code that draws
// them: go test ./test/examples -update writes them anew.
package examples
