package goodput

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Cases are questions to this package in the fixed format of examples: model,
// optimize, speedup and fit of one job, and the rules for clusters.
type Cases struct {
	cases, clusterCases []question
}

// question is one case, checked, with what computes its answer.
type question struct {
	id     string
	answer func() (any, error)
}

// Answers are the answers to Cases by their id, each in the shape of the case's
// expectation. An entry that has no answer is nil.
type Answers struct {
	Cases        map[string]any `json:"cases"`
	ClusterCases map[string]any `json:"cluster_cases"`
}

// casesVersion is the only version of the format.
const casesVersion = 1

// described are fields of a case that no answer depends on: what is said of it, how
// its samples were drawn, and what is expected.
var described = []string{"note", "name", "source", "tolerance", "expect", "true_theta", "noise_sigma", "seed"}

// ParseCases reads the fixed format. It returns an *InputError with the path of
// the first value that is missing, unknown, of the wrong kind or out of range. Fields
// that only describe a case, and its expectation, are passed over.
func ParseCases(text []byte) (*Cases, error) {
	root, t := parseTree(text)
	if t.err == nil {
		root.only("version", "tolerance", "parameter_order", "note", "name", "source", "cases", "cluster_cases")
	}
	if v := root.get("version"); v.there() && v.count(0) != casesVersion {
		t.fail(v.path, "want %d", casesVersion)
	}
	if order := root.get("parameter_order"); order.there() {
		readOrder(order)
	}
	if !root.get("cases").there() && !root.get("cluster_cases").there() {
		t.fail("", "has neither cases nor cluster_cases")
	}
	c := &Cases{
		cases:        parseQuestions(root.get("cases"), jobKinds),
		clusterCases: parseQuestions(root.get("cluster_cases"), clusterKinds),
	}
	if err := t.error(); err != nil {
		return nil, err
	}
	return c, nil
}

// readOrder holds the order of theta that a document says to the one that there is:
// parameters under each other's names would give answers, and wrong ones.
func readOrder(n node) {
	list := n.list()
	for i, v := range list {
		if name := v.text(); i < len(thetaNames) && name != thetaNames[i] {
			n.tree.fail(v.path, "%q: want %q: theta is ordered %s", name, thetaNames[i], strings.Join(thetaNames[:], ", "))
		}
	}
	if len(list) != len(thetaNames) {
		n.tree.fail(n.path, "has %d names: want %s", len(list), strings.Join(thetaNames[:], ", "))
	}
}

// kind reads one kind of case.
type kind struct {
	name   string
	fields []string // beside id, kind and those that only describe it
	read   func(n node) func() (any, error)
}

func parseQuestions(n node, kinds []kind) []question {
	if !n.there() {
		return nil
	}
	var list []question
	seen := make(map[string]bool)
	for _, c := range n.list() {
		id := c.need("id").text()
		if seen[id] {
			c.tree.fail(c.get("id").path, "%q: is given twice", id)
		}
		seen[id] = true
		name := c.need("kind").text()
		if c.tree.err != nil {
			return nil
		}
		known := false
		for _, k := range kinds {
			if k.name == name {
				c.only(slices.Concat([]string{"id", "kind"}, k.fields, described)...)
				list = append(list, question{id, k.read(c)})
				known = true
			}
		}
		if !known {
			c.tree.fail(c.get("kind").path, "%q: unknown kind", name)
		}
	}
	return list
}

// Answer computes all answers.
func (c *Cases) Answer() (Answers, error) {
	a := Answers{Cases: map[string]any{}, ClusterCases: map[string]any{}}
	for _, part := range []struct {
		name string
		list []question
		to   map[string]any
	}{{"cases", c.cases, a.Cases}, {"cluster_cases", c.clusterCases, a.ClusterCases}} {
		for i, q := range part.list {
			answer, err := q.answer()
			if err == nil {
				_, err = json.Marshal(answer) // fails on what is not finite
			}
			if err != nil {
				return Answers{}, &InputError{fmt.Sprintf("%s[%d]", part.name, i), err.Error()}
			}
			part.to[q.id] = answer
		}
	}
	return a, nil
}

// each reads the queries of a case, which have these fields, and answers them one by one.
func each[Q any](n node, fields []string, read func(q node) Q, answer func(q Q) any) func() (any, error) {
	var queries []Q
	for _, q := range n.need("queries").list() {
		q.only(fields...)
		queries = append(queries, read(q))
	}
	return func() (any, error) {
		answers := make([]any, len(queries))
		for i, q := range queries {
			answers[i] = answer(q)
		}
		return answers, nil
	}
}
