package autoscale

import (
	"fmt"
	"math"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// maxEpoch is more epochs than a store ever has: each is a disaster that a person
// has looked at. A tag beyond it is damaged, and must not use up the numbers.
const maxEpoch = 1_000_000

// oddRow says why a row that carries our tag cannot be believed; "" when it can.
// Such a row is skipped: it neither makes a machine nor changes or ends one.
func (v *cloudView) oddRow(inst provider.Instance) string {
	switch {
	case inst.ID == "":
		return "it has no id"
	case inst.State < provider.Pending || inst.State > provider.Ended:
		return fmt.Sprintf("state %d is none", uint8(inst.State))
	case math.IsNaN(inst.MemGiB) || math.IsInf(inst.MemGiB, 0) || inst.MemGiB < 0:
		return fmt.Sprintf("%g GiB is no memory", inst.MemGiB)
	case inst.Tags.Epoch < 0 || inst.Tags.Epoch > maxEpoch || inst.Tags.Round < 0:
		return fmt.Sprintf("no store launched it at epoch %d, round %d", inst.Tags.Epoch, inst.Tags.Round)
	case inst.Offering.Cloud != v.name:
		return fmt.Sprintf("it is of cloud %q", inst.Offering.Cloud)
	}
	if err := inst.Offering.Validate(); err != nil {
		return err.Error()
	}
	return ""
}

// rows are the rows of a listing that are about machines of ours and can be
// believed, each machine once. The ids of the others that are ours are told too:
// such a machine is there, whatever else is said of it.
func (l *Loop) rows(v *cloudView, now time.Time) (good []provider.Instance, there map[provider.InstanceID]bool) {
	there = make(map[provider.InstanceID]bool, len(v.instances))
	was := v.odd
	v.odd = map[string]bool{}
	first, unlike := make(map[provider.InstanceID]int, len(v.instances)), map[provider.InstanceID]bool{}
	for i := range v.instances {
		id := v.instances[i].ID
		if at, twice := first[id]; !twice {
			first[id] = i
		} else if v.instances[at] != v.instances[i] {
			unlike[id] = true
		}
	}
	good = make([]provider.Instance, 0, len(v.instances))
	for _, inst := range v.instances {
		if !l.mine(inst) || there[inst.ID] {
			continue
		}
		why := v.oddRow(inst)
		if r, known := l.cache.machine[inst.ID]; known && why == "" && r.Instance.Offering != inst.Offering {
			why = fmt.Sprintf("it is known as %s, and listed as %s", r.Instance.Offering, inst.Offering)
		}
		if why == "" && unlike[inst.ID] {
			why = "it is listed twice, and not alike"
		}
		if why == "" {
			there[inst.ID] = true
			good = append(good, inst)
			continue
		}
		if inst.ID != "" {
			there[inst.ID] = true
		}
		text := fmt.Sprintf("%s lists %q: %s: the row is skipped", v.name, inst.ID, why)
		if v.odd[text] = true; !was[text] {
			l.event(Event{At: now, Kind: EventOdd, Instance: inst.ID, Text: text})
		}
	}
	return good, there
}
