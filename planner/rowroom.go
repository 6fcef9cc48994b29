package planner

import "slices"

// takeOf is what a bin takes of row n, all of it.
func (k *packing) takeOf(n, b int) float64 {
	bin := &k.bins[b]
	return k.pr.Problem.Rows[n].take(k.pr.Problem.Offers[bin.offer].Offering.Market, k.binRate(bin))
}

// takeOfNew is what a machine to be bought for a column takes of row n, all of it.
func (k *packing) takeOfNew(n int, col *Column) float64 {
	return k.pr.Problem.Rows[n].take(k.pr.Problem.Offers[col.Offer].Offering.Market, k.rate[col.Offer])
}

// takes calls visit with what job i in column col takes of each row on the given bins,
// −1 for each to be bought.
func (k *packing) takes(i int, col *Column, bins []int, visit func(row int, take float64)) {
	pr := k.pr
	o := &pr.Problem.Offers[col.Offer]
	share := float64(col.PerNode) / float64(o.Type.Count)
	for n := range pr.Problem.Rows {
		r := &pr.Problem.Rows[n]
		if r.bearsIdle() {
			if sum, some := k.takesBy(n, i, col, bins); some {
				visit(n, sum)
			}
			continue
		}
		if !pr.counts(n, i, col.Offer) && !pr.whole(n, col.Offer) {
			continue
		}
		sum := 0.0
		for _, b := range bins {
			switch {
			case b < 0 && !r.ofJobs():
				sum += k.takeOfNew(n, col)
			case b < 0:
				sum += share * k.takeOfNew(n, col)
			case r.ofJobs():
				sum += share * k.takeOf(n, b)
			case k.bins[b].jobs == 0 && !k.bins[b].held:
				sum += k.takeOf(n, b)
			}
		}
		visit(n, sum)
	}
}

// takesBy is what job i in column col changes of a row that bears what is idle. One of
// those who do not count may take of it too: he shares what is idle. some is false when
// nobody on the bins counts.
func (k *packing) takesBy(n, i int, col *Column, bins []int) (sum float64, some bool) {
	counts := func(job int) bool { return k.pr.counts(n, job, col.Offer) }
	mine := counts(i)
	for _, b := range bins {
		if b < 0 {
			if mine {
				sum, some = sum+k.takeOfNew(n, col), true
			}
			continue
		}
		before := k.pr.borne(col.Offer, k.bins[b].tenants, counts)
		if mine || before > 0 {
			sum += k.takeOf(n, b) * (k.pr.borneWith(col.Offer, k.bins[b].tenants, tenant{job: i, perNode: col.PerNode}, counts) - before)
			some = true
		}
	}
	return sum, some
}

// allows reports whether the cap and the rows have room for a proposal.
func (k *packing) allows(i int, p *proposal) bool {
	if !k.withinCap(p.burn) {
		return false
	}
	if len(k.used) == 0 {
		return true
	}
	ok := true
	k.takes(i, &k.pr.Jobs[i].Columns[p.column], p.bins, func(n int, take float64) {
		r := &k.pr.Problem.Rows[n]
		later := k.lax && (r.ofSpot() || r.bearsIdle()) // who comes yet may make room
		ok = ok && (later || p.stays && k.keepsRoom(n, take) || k.hasRoom(n, take))
	})
	return ok
}

// rowsHold reports whether no row is passed.
func (k *packing) rowsHold() bool {
	for n := range k.used {
		if !k.holds(n, 0) && !k.keepsRoom(n, 0) {
			return false
		}
	}
	return true
}

// keepsRoom reports whether row n holds with what may stay although it passes the row,
// for a job that stays where it is. No machine is entered as long as the row is passed.
func (k *packing) keepsRoom(n int, take float64) bool {
	return k.entered[n] == 0 && k.used[n]+take-k.mayStay(n) <= capSlack
}

// mayStay is what row n may come to as long as no machine is entered, USD/h.
func (k *packing) mayStay(n int) float64 {
	if k.pr.idleOf == nil || k.pr.room.kept {
		return k.most[n]
	}
	return k.most[n] + k.pr.idleOf[n]
}

// hasRoom reports whether a job may take so much more of row n.
func (k *packing) hasRoom(n int, take float64) bool { return take <= 0 || k.holds(n, take) }

// holds reports whether row n holds with a job more that takes so much of it.
func (k *packing) holds(n int, take float64) bool {
	over := k.used[n] + take - k.most[n]
	return over <= capSlack || k.pr.Problem.Rows[n].Spare && over <= max(take, k.largest(n))+capSlack
}

// largest is the most that the machines of one job take of row n, shared ones as a whole
// where the row is about machines.
func (k *packing) largest(n int) float64 {
	most := 0.0
	for i := range k.seats {
		if k.seats[i].column < 0 {
			continue
		}
		col := k.column(i)
		share := 1.0
		switch {
		case k.pr.counts(n, i, col.Offer):
			share = float64(col.PerNode) / float64(k.pr.Problem.Offers[col.Offer].Type.Count)
		case !k.pr.whole(n, col.Offer):
			continue
		}
		take := 0.0
		for _, b := range k.seats[i].bins {
			take += share * k.takeOf(n, b)
		}
		most = max(most, take)
	}
	return most
}

// fillRows sums what a bin takes of the rows over all that is held when it begins
// (sign 1) or ends (−1) to be used.
func (k *packing) fillRows(b int, sign float64) {
	for n := range k.used {
		if k.pr.whole(n, k.bins[b].offer) {
			k.used[n] += sign * k.takeOf(n, b)
			k.parts[n] += sign * k.takeOf(n, b)
		}
	}
}

// fillTeams sums what the seat of job i takes of the rows of jobs and of the budgets of
// teams, as it begins (sign 1) or ends (−1) to sit there.
func (k *packing) fillTeams(i int, s *seat, sign float64) {
	pr := k.pr
	if len(k.used) == 0 && !pr.bears {
		return
	}
	col := &pr.Jobs[i].Columns[s.column]
	share := float64(col.PerNode) / float64(pr.Problem.Offers[col.Offer].Type.Count)
	for _, b := range s.bins {
		bin := &k.bins[b]
		next := bin.tenants
		switch {
		case pr.bears && sign > 0:
			next = pr.with(nil, bin.tenants, tenant{i, col.PerNode, s.stays}) // copies of the packing share the old one
		case pr.bears:
			next = without(bin.tenants, i)
		}
		for n := range k.used {
			counts, idle := pr.counts(n, i, col.Offer), pr.Problem.Rows[n].bearsIdle()
			if !counts && !idle {
				continue
			}
			whole := k.takeOf(n, b)
			take := share * whole
			if counts {
				k.parts[n] += sign * take
			}
			switch {
			case idle:
				of := func(job int) bool { return pr.counts(n, job, col.Offer) }
				k.used[n] += whole * (pr.borne(col.Offer, next, of) - pr.borne(col.Offer, bin.tenants, of))
				if whole > 0 {
					k.entered[n] += entered(next, of) - entered(bin.tenants, of)
				}
			case counts:
				k.used[n] += sign * take
			}
		}
		k.toll += pr.tollsOf(col.Offer, k.binRate(bin), next) - pr.tollsOf(col.Offer, k.binRate(bin), bin.tenants)
		bin.tenants = next
	}
}

// rowInTheWay is the row that has no room for column col of job i on machines that would
// be bought; nil if all have.
func (k *packing) rowInTheWay(i int, col *Column, kinds ...RowKind) (first *Row) {
	k.takes(i, col, bought(col.Nodes), func(n int, take float64) {
		r := &k.pr.Problem.Rows[n]
		if first == nil && !k.hasRoom(n, take) && (len(kinds) == 0 || slices.Contains(kinds, r.Kind)) {
			first = r
		}
	})
	return first
}

// tooMuchSpot reports whether a row of the part of spot has no room for column col of job i.
func (k *packing) tooMuchSpot(i int, col *Column) bool {
	return k.rowInTheWay(i, col, SpotRow, LeastSpotRow) != nil
}

// bought is the bins of a gang on nodes machines that would be bought.
func bought(nodes int) []int { return slices.Repeat([]int{-1}, nodes) }
