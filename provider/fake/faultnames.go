package fake

import (
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Fault is a kind of thing that goes wrong by chance.
type Fault uint8

const (
	LaunchRefused    Fault = iota // with any kind that may pass
	RequestLost                   // nothing is bought, the outcome is unknown
	AnswerLost                    // it is bought, the outcome is unknown
	AnswerLate                    // the outcome is unknown, the machines come later
	LaunchHangs                   // before anything is bought
	LaunchHangsAfter              // after it is bought
	PartOnly                      // a part comes up, with an error
	ShortSuccess                  // a part comes up, without one
	EmptySuccess                  // nothing comes up, without an error
	Surplus                       // one more comes up than was asked for
	Shortage                      // one offering is refused for a while
	PoolLost                      // a pool goes down with its machines
	ZoneLost                      // all spot machines of a zone go at once
	Shallow                       // a pool holds few machines for a while
	Throttling                    // every call is refused, and refusals prolong it
	ListingFails
	ListingHangs
	ListingLags
	ListingEmpty
	ListingHalf
	ListingTwice
	NoticesLost
	NoticesTwice
	TerminateDenied
	TerminateLost    // it is done, the outcome is unknown
	TerminateIgnored // it is accepted and not done
	EndingSlow
	Protected
	NoAccelerators  // a machine boots with none
	FewAccelerators // a machine boots with one too few
	Mute            // a machine never calls home
	NeverRuns
	BootSlow
	HostFails
	MachineFails
	QuotaCut
	BlockCut // a block ends before its time
	Foreign  // somebody else launches
	BrokenRow
	PriceMoves
	ClockSkew
)

// AllFaults lists every fault, in order.
func AllFaults() []Fault {
	list := make([]Fault, len(faultNames))
	for i := range list {
		list[i] = Fault(i)
	}
	return list
}

// String is the fault's word.
func (f Fault) String() string {
	if int(f) >= len(faultNames) {
		return fmt.Sprintf("fault(%d)", uint8(f))
	}
	return faultNames[f].word
}

// ParseFault reads the word that String writes.
func ParseFault(s string) (Fault, error) {
	for f, n := range faultNames {
		if n.word == s {
			return Fault(f), nil
		}
	}
	return 0, fmt.Errorf("fault %q: there is none of that name", s)
}

func spot(o provider.Offering, _ provider.InstanceType) bool { return o.Market == provider.Spot }

// fixed makes a fault that has one line.
func fixed(line string) func(*drawer) string { return func(*drawer) string { return line } }

// passing are the kinds with which a launch is refused by chance: a caller that
// waits or goes elsewhere gets over them.
var passing = []string{"capacity", "capacity", "quota", "throttled", "price", "unknown"}

// faultNames are the words of the faults, and what draws a line of each. The means
// are short beside a day, so that one event is over before the next of its kind.
var faultNames = [...]struct {
	word string
	line func(d *drawer) string // "": it cannot happen in this cloud
}{
	LaunchRefused: {"launch-refused", func(d *drawer) string {
		return d.about("launch of OFFERING fails %s x%d", passing[d.IntN(len(passing))], 1+d.IntN(3))
	}},
	RequestLost:      {"request-lost", fixed("launch request lost")},
	AnswerLost:       {"answer-lost", fixed("launch answer lost")},
	AnswerLate:       {"answer-late", func(d *drawer) string { return fmt.Sprintf("launch late %v", d.span(30*time.Second)) }},
	LaunchHangs:      {"launch-hangs", fixed("launch hangs")},
	LaunchHangsAfter: {"launch-hangs-after", fixed("launch hangs after")},
	PartOnly:         {"part-only", func(d *drawer) string { return fmt.Sprintf("launch partial %d", 1+d.IntN(4)) }},
	ShortSuccess:     {"short-success", func(d *drawer) string { return fmt.Sprintf("launch short %d", 1+d.IntN(4)) }},
	EmptySuccess:     {"empty-success", fixed("launch empty success")},
	Surplus:          {"surplus", fixed("launch surplus 1")},
	Shortage: {"shortage", func(d *drawer) string {
		return d.about("launch of OFFERING fails capacity for %v", d.span(40*time.Minute))
	}},
	PoolLost: {"pool-lost", func(d *drawer) string { return d.about("pool OFFERING down for %v", d.span(40*time.Minute)) }},
	ZoneLost: {"zone-lost", func(d *drawer) string {
		notice := [2]string{"", " without notice"}[d.IntN(2)]
		o, _, ok := d.offering(spot)
		if !ok {
			return ""
		}
		return fmt.Sprintf("take all of %s/%s/*/spot%s", o.Cloud, o.Zone, notice)
	}},
	Shallow:      {"shallow", func(d *drawer) string { return d.about("pool OFFERING holds %d for %v", d.IntN(4), d.span(time.Hour)) }},
	Throttling:   {"throttling", func(d *drawer) string { return fmt.Sprintf("throttle %v storm 5s", d.span(3*time.Minute)) }},
	ListingFails: {"listing-fails", func(d *drawer) string { return fmt.Sprintf("listing fails unknown for %v", d.span(3*time.Minute)) }},
	ListingHangs: {"listing-hangs", fixed("listing hangs")},
	ListingLags: {"listing-lags", func(d *drawer) string {
		return fmt.Sprintf("listing lags %v for %v", d.span(20*time.Second), d.span(10*time.Minute))
	}},
	ListingEmpty:    {"listing-empty", fixed("listing empty")},
	ListingHalf:     {"listing-half", fixed("listing half")},
	ListingTwice:    {"listing-twice", func(d *drawer) string { return fmt.Sprintf("listing twice for %v", d.span(10*time.Minute)) }},
	NoticesLost:     {"notices-lost", func(d *drawer) string { return fmt.Sprintf("notices empty for %v", d.span(10*time.Minute)) }},
	NoticesTwice:    {"notices-twice", func(d *drawer) string { return fmt.Sprintf("notices twice for %v", d.span(10*time.Minute)) }},
	TerminateDenied: {"terminate-denied", func(d *drawer) string { return fmt.Sprintf("terminate fails denied x%d", 1+d.IntN(3)) }},
	TerminateLost:   {"terminate-lost", fixed("terminate answer lost")},
	TerminateIgnored: {"terminate-ignored", func(d *drawer) string {
		return fmt.Sprintf("terminate ignored for %v", d.span(5*time.Minute))
	}},
	EndingSlow: {"ending-slow", func(d *drawer) string {
		return fmt.Sprintf("terminate takes %v for %v", d.span(2*time.Minute), d.span(20*time.Minute))
	}},
	Protected: {"protected", func(d *drawer) string { return d.about("protect 1 of OFFERING for %v", d.span(30*time.Minute)) }},
	NoAccelerators: {"no-accelerators", func(d *drawer) string {
		return d.about("launch of OFFERING boots with 0")
	}},
	FewAccelerators: {"few-accelerators", func(d *drawer) string {
		o, t, ok := d.offering(func(_ provider.Offering, t provider.InstanceType) bool { return t.Count > 1 })
		if !ok {
			return ""
		}
		return fmt.Sprintf("launch of %s boots with %d of %d", o, t.Count-1, t.Count)
	}},
	Mute:      {"mute", func(d *drawer) string { return d.about("launch of OFFERING never calls home") }},
	NeverRuns: {"never-runs", func(d *drawer) string { return d.about("launch of OFFERING never runs") }},
	BootSlow:  {"boot-slow", func(d *drawer) string { return d.about("launch of OFFERING boots in %v", 22*time.Minute) }},
	HostFails: {"host-fails", func(d *drawer) string {
		o, _, ok := d.offering(func(_ provider.Offering, t provider.InstanceType) bool { return t.Hosts > 1 })
		if !ok {
			return ""
		}
		return fmt.Sprintf("host of %s fails", o)
	}},
	MachineFails: {"machine-fails", func(d *drawer) string { return d.about("fail 1 of OFFERING") }},
	QuotaCut: {"quota-cut", func(d *drawer) string {
		u, part, span := d.Float64(), d.Float64(), d.span(time.Hour)
		quotas := slices.Clone(d.c.cfg.Quotas)
		quotas = slices.DeleteFunc(quotas, func(q provider.Quota) bool { return !d.c.counts(d.c.ours(q.Class)) })
		if len(quotas) == 0 {
			return ""
		}
		q := quotas[int(u*float64(len(quotas)))]
		return fmt.Sprintf("quota %s/%s/%s %d for %v", q.Class.Region, q.Class.Family, q.Class.Market, int(part*float64(min(q.Limit, most))), span)
	}},
	BlockCut: {"block-cut", func(d *drawer) string {
		o, _, ok := d.offering(func(o provider.Offering, _ provider.InstanceType) bool { return o.Reservation != "" })
		if !ok {
			return ""
		}
		return fmt.Sprintf("block %s ends", o.Reservation)
	}},
	Foreign: {"foreign", func(d *drawer) string { return d.about("foreign 1 of OFFERING") }},
	BrokenRow: {"broken-row", func(d *drawer) string {
		return fmt.Sprintf("listing shows %s for %v", broken[d.IntN(len(broken))], d.span(20*time.Minute))
	}},
	PriceMoves: {"price-moves", func(d *drawer) string { return d.about("price OFFERING times %.4f", 0.5+1.5*d.Float64()) }},
	ClockSkew: {"clock-skew", func(d *drawer) string {
		return fmt.Sprintf("skew %v for %v", time.Duration(d.IntN(241)-120)*time.Second, d.span(20*time.Minute))
	}},
}

// broken are rows that no listing should have.
var broken = []string{
	"id=i-odd state=9 launched=-1h",
	"state=running launched=-1h started=-1h fleet=somebody-else",
	"id=i-odd type=no.such market=99 state=running",
	"id=i-odd state=ended launched=1h started=-1h ended=-2h cause=77",
	"id=i-odd state=running home=-1m accelerators=-3",
}
