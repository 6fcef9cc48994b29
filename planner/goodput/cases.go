package goodput

import (
	"encoding/json"
	"fmt"
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

// ParseCases reads the fixed format. It returns an *InputError with the path of
// the first value that is missing, of the wrong kind or out of range. Fields that
// only describe a case, and its expectation, are passed over.
func ParseCases(text []byte) (*Cases, error) {
	root, t := parseTree(text)
	if t.err == nil {
		root.keys()
	}
	if v := root.get("version"); v.there() && v.count(0) != casesVersion {
		t.fail(v.path, "want %d", casesVersion)
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

// kind reads one kind of case.
type kind struct {
	name string
	read func(n node) func() (any, error)
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

// each reads the queries of a case and answers them one by one.
func each[Q any](n node, read func(q node) Q, answer func(q Q) any) func() (any, error) {
	var queries []Q
	for _, q := range n.need("queries").list() {
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
