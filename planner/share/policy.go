package share

import (
	"slices"
	"strings"
)

// Policy is a named way of sharing.
type Policy struct {
	Name   string
	Line   string // what it optimises
	Unit   string // of the objective; "": a plain number
	share  func(p *Problem, o Options) (Answer, error)
	value  valuation // of its shares; nil: a procedure that states none
	slo    bool      // each job's deadline is kept
	counts counting
}

// Share applies the policy to p.
func (y Policy) Share(p *Problem, o Options) (Answer, error) {
	a, err := y.share(p, o)
	if err == nil {
		a, err = y.checked(p, a, o)
	}
	p.leaveOut(&a)
	a.unsign()
	return y.named(a, o), err
}

// leaveOut names the jobs that can run nowhere and get nothing, whatever the policy. To divide by
// their throughput some policies have left them out already.
func (p *Problem) leaveOut(a *Answer) {
	if a.Share == nil || a.Status == "infeasible" {
		return
	}
	time, peak := p.time(a), p.peaks(&demand{packed: a.PairShare != nil})
	for j := range p.Jobs {
		if peak[j] == 0 && time[j] == 0 && !slices.Contains(a.Left, j) {
			a.Left = append(a.Left, j)
		}
	}
	slices.Sort(a.Left)
}

// named says whose answer it is, and takes back "optimal" where the gap is more than that.
func (y Policy) named(a Answer, o Options) Answer {
	a.Policy, a.Unit = y.Name, y.Unit
	if a.Status == "optimal" && a.Gap > max(o.settings().gap, roundingGap) {
		a.Status = "feasible"
	}
	return a
}

// roundingGap is the relative gap that rounding may leave an optimum; with more, nothing
// is proved.
const roundingGap = 1e-7

// Policies lists all policies by name.
func Policies() []Policy {
	return []Policy{
		{"allox", "AlloX: least sum of completion times by matching one-worker jobs to places in queues", "s", allox, nil, false, byRule},
		{"cost_ratio_slo", "max sum of theta / spend with the deadlines", "steps/s per USD/h", costRatio, perSpend, true, byRatio},
		{"fifo", "max sum of (m - j)·theta_j / best throughput, j = 0 for the first arrival", "", fifo, inOrder, false, bySpeed},
		{"fifo_greedy", "each job in order takes its fastest free type; the first that fits nowhere ends the pass", "", fifoGreedy, inOrder, false, byRule},
		{"fifo_packed", "fifo over single jobs and pairs", "", packed(fifoDemand), inOrder, false, bySpeed},
		{"finish_time_fairness", "min max_j (t_j + n_j/theta_j) / (tau_j + n_j/iso_j)", "", finishTime(false), unfairest, false, bySpeed},
		{"finish_time_fairness_packed", "finish_time_fairness over single jobs and pairs", "", finishTime(true), unfairest, false, bySpeed},
		{"gandiva", "equal time for all; when workers are short, for pairs that lose nothing by sharing", "", gandiva, normal, false, byRule},
		{"hierarchical", "water filling over entities by weight; inside, fairness or FIFO", "", waterFilling(false), normal, false, bySpeed},
		{"hierarchical_packed", "hierarchical over single jobs and pairs", "", waterFilling(true), normal, false, bySpeed},
		{"isolated", "each job its n-th of every type", "", isolated, normal, false, byRule},
		{"makespan", "min M with theta_j >= n_j / M", "s", makespan(false), last, false, bySpeed},
		{"makespan_packed", "makespan over single jobs and pairs", "s", makespan(true), last, false, bySpeed},
		{"max_min_fairness", "max min_j s_j/(w_j E_j)·theta_j, then the most sum of theta/E", "", maxMin(aware), slowest, false, bySpeed},
		{"max_min_fairness_agnostic", "max_min_fairness with every throughput 1", "", maxMin(agnostic), leastTime, false, byTime},
		{"max_min_fairness_packed", "max_min_fairness over single jobs and pairs", "", maxMin(sharing), slowest, false, bySpeed},
		{"max_sum_normalized_throughput", "max sum of theta_j / E_j", "", single(normalizedDemand), normal, false, bySpeed},
		{"max_sum_normalized_throughput_packed", "max_sum_normalized_throughput over single jobs and pairs", "", packed(normalizedDemand), normal, false, bySpeed},
		{"max_sum_throughput", "max sum of theta_j", "steps/s", single(throughputDemand), total, false, bySpeed},
		{"max_sum_throughput_packed", "max_sum_throughput over single jobs and pairs", "steps/s", packed(throughputDemand), total, false, bySpeed},
		{"min_cost", "max sum of throughput/price·x, Gavel's stand-in for least cost", "steps/s per USD/h", single(costDemand), perPrice, false, perDollar},
		{"min_cost_packed", "min_cost over single jobs and pairs", "steps/s per USD/h", packed(costDemand), perPrice, false, perDollar},
		{"min_cost_slo", "min_cost with theta_j >= n_j/D_j for each job with a deadline", "steps/s per USD/h", single(costSLODemand), perPrice, true, perDollar},
		{"min_cost_slo_packed", "min_cost_slo over single jobs and pairs", "steps/s per USD/h", packed(costSLODemand), perPrice, true, perDollar},
		{"min_spend_slo", "min spend with theta_j >= n_j/D_j for each job with a deadline", "USD/h", minSpend(false), spent, true, bySpend},
		{"min_spend_slo_packed", "min_spend_slo over single jobs and pairs", "USD/h", minSpend(true), spent, true, bySpend},
		{"power_mean", "Pollux: max (mean of (theta_j/iso_j + 0.001)^p)^(1/p), p = -1 unless --power says otherwise", "", powerMean, meanPower, false, bySpeed},
		{"proportional", "every job the workers of each type in proportion to the fleet", "", proportional, normal, false, byRule},
		{"shortest_job_first", "min_j of the least n_j/theta_j alone; then the next shortest on what is left", "s", shortestFirst, nil, false, byRule},
		{"water_filling_packed", "water_filling_sum over single jobs and pairs", "", waterFilling(true), normal, false, bySpeed},
		{"water_filling_sum", "sum of theta_j/E_j at the water-filled point", "", waterFilling(false), normal, false, bySpeed},
	}
}

// Find returns the policy of that name.
func Find(name string) (Policy, bool) {
	for _, y := range Policies() {
		if y.Name == strings.TrimSpace(name) {
			return y, true
		}
	}
	return Policy{}, false
}

// single and packed apply a demand whose objective is the answer's.
func single(build func(*Problem) (demand, error)) func(*Problem, Options) (Answer, error) {
	return func(p *Problem, o Options) (Answer, error) { return p.maximise(build, false, o) }
}

func packed(build func(*Problem) (demand, error)) func(*Problem, Options) (Answer, error) {
	return func(p *Problem, o Options) (Answer, error) { return p.maximise(build, true, o) }
}

func (p *Problem) maximise(build func(*Problem) (demand, error), pack bool, o Options) (Answer, error) {
	d, err := build(p)
	if err != nil {
		return Answer{}, err
	}
	if late := p.late(d.floor); len(late) > 0 {
		r := infeasible(late)
		return answerOf(r, 0, 0), nil
	}
	d.packed = pack
	r := p.solve(d, o.settings())
	if len(r.conflict) > 0 {
		r.conflict = p.irreducible(d, r.conflict, o)
	}
	return answerOf(r, r.objective, r.bound), nil
}
