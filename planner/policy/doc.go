// Package policy holds the policies, one file each: what an hour of each job on
// each config is worth, from which the joint program of package planner makes the
// plan. value.go is the default when machines are bought, mincost.go and
// maxgoodput.go buy for other ends, srpt.go is for what is owned; baseline.go holds
// rules that people use today, kept to be compared with. name.go lists those that
// may be asked for by name.
package policy
