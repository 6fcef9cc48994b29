package whole

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// Settings of patterns.
const (
	patternWork   = 4_000_000 // of the knapsacks at one set of prices, above which they are not tried
	patternSmooth = 0.6       // part of the best prices so far in those looked at next
	patternRounds = 400       // of prices, at one node
	patternEarn   = 1e-9      // a pattern that earns less is not new, of the largest value
	patternForce  = 100       // what an unserved job costs that must be served, in largest values
	patternFix    = 8         // rounds of prices from one look at what can be struck to the next
)

// patterns is the program over what jobs can take together of one row, whole: choose a
// pattern for each row so that no job is in two. Its relaxation is Dantzig's and Wolfe's:
// any prices of jobs give the bound of what they pay and of what the best pattern of each
// row earns beyond, a knapsack by dynamic programming. With few jobs a row, that is far
// nearer to the best choice than prices of units are, whatever the units. Against each
// option there is the loss of using it anyway, from the knapsacks without its job.
type patterns struct {
	p     *Problem
	room  []int     // row → units
	rows  [][]sizes // row → jobs that could take of it
	lp    *linear.Program
	s     *linear.Simplex
	list  []pattern // of columns, after one for each job that must be served
	known map[string]bool
	scale float64
	most  float64 // largest value

	best   float64
	choice []int
	found  bool
	gap    float64 // by which a better choice must exceed best
	lost   float64 // most that anything left behind may be worth

	extra  int      // columns that are no patterns
	open   [][]bool // job → none, then its options: those still looked at
	count  []span   // of jobs served
	work   int
	first  []float64 // knapsack: job of the row, units → most that the jobs before it earn
	last   []float64 // and those from it on
	took   []int32   // and its option then
	live   []int     // jobs of the row that earn, by place in rows
	served []bool    // job → must be
	key    []byte
}

// sizes are a job's options in one row.
type sizes struct {
	j    int
	list []size
}

type size struct{ i, units int }

// pattern is options that fit one row together.
type pattern struct {
	row  int
	pick []pick
}

type pick struct{ j, i int }

// newPatterns states the program over the options kept; nil if there is no unit, or too
// many of it.
func newPatterns(p *Problem, keep [][]bool, best, gap float64) *patterns {
	unit := p.unit()
	if unit == 0 {
		return nil
	}
	n := len(p.Options)
	t := &patterns{p: p, best: best, gap: gap, lost: math.Inf(-1), known: make(map[string]bool), served: make([]bool, n)}
	t.room, t.rows = make([]int, len(p.Capacity)), make([][]sizes, len(p.Capacity))
	t.open = make([][]bool, n)
	total := make([]float64, len(p.Capacity)) // units that jobs could take
	for j, list := range p.Options {
		t.open[j] = make([]bool, len(list)+1)
		t.open[j][0] = true
		single := make([]float64, len(p.Capacity))
		for i, o := range list {
			if !keep[j][i] {
				continue
			}
			t.open[j][i+1] = true
			t.most = max(t.most, o.Value)
			r := t.rows[o.Row]
			if len(r) == 0 || r[len(r)-1].j != j {
				r = append(r, sizes{j: j})
			}
			r[len(r)-1].list = append(r[len(r)-1].list, size{i, int(math.Round(o.Units / unit))})
			t.rows[o.Row] = r
			single[o.Row] = max(single[o.Row], math.Round(o.Units/unit))
		}
		for row, u := range single {
			total[row] += u
		}
	}
	if t.most == 0 {
		return nil
	}
	work, widest := 0, 0
	for row, c := range p.Capacity {
		t.room[row] = int(min(math.Floor(c/unit+roomTol), total[row]))
		count := 0
		for _, q := range t.rows[row] {
			count += len(q.list) + 1
		}
		work += count * (t.room[row] + 1)
		widest = max(widest, (len(t.rows[row])+2)*(t.room[row]+1))
		if work > patternWork {
			return nil
		}
	}
	t.first, t.last, t.took = make([]float64, widest), make([]float64, widest), make([]int32, widest)
	bound := make([]float64, n+len(p.Capacity)+2*(1+len(p.Capacity)))
	for r := range n + len(p.Capacity) {
		bound[r] = 1
	}
	t.lp, t.scale = linear.NewProgram(bound), t.most
	for j := range n {
		t.lp.Add(-patternForce, []int32{int32(j)}, []float64{1})
	}
	for k := range 1 + len(p.Capacity) {
		t.lp.Add(-patternForce, []int32{int32(n + len(p.Capacity) + 2*k + 1)}, []float64{-1})
	}
	t.extra = t.lp.Columns()
	t.s = linear.NewSimplex(t.lp)
	return t
}

// add makes a column of a pattern, unless there is one.
func (t *patterns) add(q pattern) bool {
	t.key = t.key[:0]
	for _, k := range q.pick {
		t.key = append(t.key, byte(k.j), byte(k.j>>8), byte(k.i), byte(k.i>>8))
	}
	if t.known[string(t.key)] || len(q.pick) == 0 {
		return false
	}
	t.known[string(t.key)] = true
	rows, ones, value := make([]int32, 0, len(q.pick)+5), make([]float64, 0, len(q.pick)+5), 0.0
	for _, k := range q.pick {
		rows, ones = append(rows, int32(k.j)), append(ones, 1)
		value += t.p.Options[k.j][k.i].Value
	}
	jobs, count := len(t.p.Options), float64(len(q.pick))
	rows, ones = append(rows, int32(jobs+q.row)), append(ones, 1)
	for _, k := range []int{0, 1 + q.row} {
		at := int32(jobs + len(t.room) + 2*k)
		rows, ones = append(rows, at, at+1), append(ones, count, -count)
	}
	t.lp.Add(value/t.scale, rows, ones)
	t.list = append(t.list, q)
	return true
}

// start adds the patterns of a choice.
func (t *patterns) start(choice []int) {
	for row := range t.room {
		q := pattern{row: row}
		for j, i := range choice {
			if i >= 0 && t.p.Options[j][i].Row == row {
				q.pick = append(q.pick, pick{j, i})
			}
		}
		t.add(q)
	}
}

// prices are how many there are: of each job, of a job served, and of one served by each row.
func (t *patterns) prices() int { return len(t.open) + 1 + len(t.room) }

// earn is what option i of job j earns at the prices.
func (t *patterns) earn(j, i int, price []float64) float64 {
	o := &t.p.Options[j][i]
	return o.Value - price[j] - price[len(t.open)] - price[len(t.open)+1+o.Row]
}

// knapsack finds what the best pattern of a row earns at the prices. It leaves, in live and
// first, the jobs that could be in it and the most that those before each of them earn.
func (t *patterns) knapsack(row int, price []float64) float64 {
	width := t.room[row] + 1
	t.live = t.live[:0]
	clear(t.first[:width])
	for at, q := range t.rows[row] {
		k := len(t.live)
		from, to := t.first[k*width:(k+1)*width], t.first[(k+1)*width:(k+2)*width]
		took := t.took[k*width : (k+1)*width]
		fresh := true
		for _, o := range q.list {
			earn := t.earn(q.j, o.i, price)
			if !t.open[q.j][o.i+1] || earn <= 0 || o.units >= width {
				continue
			}
			if fresh {
				copy(to, from)
				for u := range took {
					took[u] = -1
				}
				fresh = false
			}
			t.work += width - o.units
			for u, v := range from[:width-o.units] {
				if v+earn > to[u+o.units] {
					to[u+o.units], took[u+o.units] = v+earn, int32(o.i)
				}
			}
		}
		if !fresh {
			t.live = append(t.live, at)
		}
	}
	return t.first[(len(t.live)+1)*width-1]
}

// taken reads the best pattern of the row that the last knapsack was of.
func (t *patterns) taken(row int) pattern {
	width := t.room[row] + 1
	q := pattern{row: row}
	u := width - 1
	for k := len(t.live) - 1; k >= 0; k-- {
		if i := t.took[k*width+u]; i >= 0 {
			j := t.rows[row][t.live[k]].j
			q.pick = append(q.pick, pick{j, int(i)})
			for _, o := range t.rows[row][t.live[k]].list {
				if o.i == int(i) {
					u -= o.units
				}
			}
		}
	}
	return q
}

// bound is what the prices prove, with the best pattern of each row if asked.
func (t *patterns) bound(price []float64, each func(row int, earn float64)) float64 {
	sum := 0.0
	for _, w := range price[:len(t.open)] {
		sum += w
	}
	for k, c := range t.count {
		w := price[len(t.open)+k]
		sum += max(w*c.low, w*c.high)
	}
	for row := range t.room {
		earn := t.knapsack(row, price)
		sum += earn
		each(row, earn)
	}
	return sum
}

// strike closes the options, and none, whose use leaves no better choice than the best by
// what the prices prove, and reports how many.
func (t *patterns) strike(price []float64) int {
	n := len(t.p.Options)
	earns := make([]float64, len(t.room))
	without := make([]float64, n) // what the rows earn less without each job
	forced := make([][]float64, n)
	for j := range forced {
		forced[j] = make([]float64, len(t.open[j]))
	}
	apart := make(map[[2]int]float64) // row, job → what the row earns less without it
	bound := t.bound(price, func(row int, earn float64) {
		earns[row] = earn
		width := t.room[row] + 1
		t.backward(row, price)
		k := 0
		for at, q := range t.rows[row] {
			live := k < len(t.live) && t.live[k] == at
			before, after := t.first[len(t.live)*width:(len(t.live)+1)*width], []float64(nil)
			if live {
				before, after = t.first[k*width:(k+1)*width], t.last[(k+1)*width:(k+2)*width]
				k++
				less := earn - joined(before, after, width-1)
				apart[[2]int{row, q.j}] = less
				without[q.j] += less
			}
			for _, o := range q.list {
				if t.open[q.j][o.i+1] {
					forced[q.j][o.i+1] = math.Inf(-1)
					if o.units < width {
						forced[q.j][o.i+1] = t.earn(q.j, o.i, price) + joined(before, after, width-1-o.units)
					}
				}
			}
		}
	})
	closed := 0
	for j, list := range t.open {
		for i, open := range list {
			if !open {
				continue
			}
			most := bound - without[j]
			if i == 0 {
				most -= price[j]
			} else {
				row := t.p.Options[j][i-1].Row
				most += apart[[2]int{row, j}] - earns[row] + forced[j][i]
			}
			if t.beaten(most) {
				t.leave(most)
				list[i] = false
				closed++
			}
		}
	}
	return closed
}

// backward fills last for the row that the last knapsack was of.
func (t *patterns) backward(row int, price []float64) {
	width := t.room[row] + 1
	clear(t.last[len(t.live)*width : (len(t.live)+1)*width])
	for k := len(t.live) - 1; k >= 0; k-- {
		from, to := t.last[(k+1)*width:(k+2)*width], t.last[k*width:(k+1)*width]
		copy(to, from)
		q := t.rows[row][t.live[k]]
		for _, o := range q.list {
			earn := t.earn(q.j, o.i, price)
			if !t.open[q.j][o.i+1] || earn <= 0 || o.units >= width {
				continue
			}
			t.work += width - o.units
			for u, v := range from[:width-o.units] {
				to[u+o.units] = max(to[u+o.units], v+earn)
			}
		}
	}
}

// joined is the most that two sets of jobs earn in so many units; after may be nil.
func joined(before, after []float64, units int) float64 {
	if after == nil {
		return before[units]
	}
	best := 0.0
	for u, v := range before[:units+1] {
		best = max(best, v+after[units-u])
	}
	return best
}

// beaten reports whether a bound cannot lead to a better choice.
func (t *patterns) beaten(bound float64) bool { return bound <= t.best+t.gap }

// leave takes note of the bound of what is not looked at further.
func (t *patterns) leave(bound float64) { t.lost = max(t.lost, bound) }
