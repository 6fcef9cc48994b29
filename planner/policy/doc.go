// Package policy holds the policies, one file each: what an hour of each job on
// each config is worth, from which the joint program of package planner makes the
// plan. value.go is the default when machines are bought; the others are the rules
// that people use today, kept to be compared with.
package policy
