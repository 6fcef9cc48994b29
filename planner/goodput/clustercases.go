package goodput

import "math"

// numbers reads a list of numbers of at least least.
func numbers(n node, least float64) []float64 {
	var list []float64
	for _, v := range n.list() {
		list = append(list, v.atLeast(least))
	}
	return list
}

// queriesAlone are the fields of a cluster case.
var queriesAlone = []string{"queries"}

// clusterKinds are the kinds of cases about several jobs, or a cluster.
var clusterKinds = []kind{
	{"power_mean", queriesAlone, func(n node) func() (any, error) {
		type query struct {
			values   []float64
			p, floor float64
		}
		return each(n, []string{"values", "p", "floor"}, func(q node) query {
			read := query{values: numbers(q.need("values"), 0), p: q.need("p").number()}
			if len(read.values) == 0 {
				q.tree.fail(q.get("values").path, "is empty")
			}
			if f := q.get("floor"); f.there() {
				read.floor = f.atLeast(0)
			}
			return read
		}, func(q query) any { return PowerMean(q.values, q.p, q.floor) })
	}},
	{"realloc_factor", queriesAlone, func(n node) func() (any, error) {
		type query struct {
			age, delay float64
			restarts   int
		}
		return each(n, []string{"age", "restarts", "delay"}, func(q node) query {
			return query{age: q.need("age").atLeast(0), restarts: q.need("restarts").count(0), delay: q.need("delay").atLeast(0)}
		}, func(q query) any { return RestartFactor(q.age, q.restarts, q.delay) })
	}},
	{"utility", queriesAlone, func(n node) func() (any, error) {
		type query struct {
			speedups []float64
			gpus     int
		}
		return each(n, []string{"speedups", "replicas", "active_gpus"}, func(q node) query {
			read := query{numbers(q.need("speedups"), 0), q.need("active_gpus").count(0)}
			if r := q.get("replicas"); r.there() {
				list := r.list()
				for _, v := range list {
					v.count(0)
				}
				if len(list) != len(read.speedups) {
					q.tree.fail(r.path, "has %d numbers: want one for each of the %d speedups", len(list), len(read.speedups))
				}
			}
			return read
		}, func(q query) any { return Utility(q.speedups, q.gpus) })
	}},
	{"desired_nodes", queriesAlone, func(n node) func() (any, error) {
		type query struct {
			front   []FrontPoint
			current int
		}
		return each(n, []string{"front", "current"}, func(q node) query {
			read := query{current: q.need("current").count(0)}
			for _, p := range q.need("front").list() {
				values := p.list()
				if len(values) != 3 {
					q.tree.fail(p.path, "want performance, nodes and utility")
					continue
				}
				read.front = append(read.front, FrontPoint{values[0].number(), values[1].count(0), values[2].number()})
			}
			return read
		}, func(q query) any { return DesiredNodes(q.front, q.current, PublishedBand) })
	}},
	{"paper_autoscale", queriesAlone, func(n node) func() (any, error) {
		type query struct {
			model                Model
			perNode, nodes, most int
		}
		type sizeAnswer struct {
			Nodes    int     `json:"nodes"`
			Fraction float64 `json:"fraction_now"`
		}
		return each(n, []string{"job", "gpus_per_node", "nodes", "max_nodes"}, func(q node) query {
			read := query{readModel(q.need("job")), q.need("gpus_per_node").count(1), q.need("nodes").count(1), q.need("max_nodes").count(1)}
			if total := math.Max(float64(read.nodes), float64(read.most)) * float64(read.perNode); total > maxCount || read.most > mostNodes {
				q.tree.fail(q.get("max_nodes").path, "%d: is more than can be searched", read.most)
			}
			return read
		}, func(q query) any {
			nodes, fraction, ok := q.model.PaperNodes(Clamp, PublishedGrowth, q.perNode, q.nodes, q.most)
			if !ok {
				return nil
			}
			return sizeAnswer{nodes, fraction}
		})
	}},
}

// mostNodes bounds the sizes that are tried one by one.
const mostNodes = 1 << 16
