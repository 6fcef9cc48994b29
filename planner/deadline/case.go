package deadline

import "fmt"

// Mode is what a job holds.
type Mode uint8

const (
	Idle Mode = iota + 1 // nothing
	Spot                 // machines that may go away
	Sure                 // machines that surely run: on demand, reserved or owned
)

func (m Mode) String() string {
	switch m {
	case Idle:
		return "idle"
	case Spot:
		return "spot"
	case Sure:
		return "sure"
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// Case is a job with a deadline, and what it may run on. A start takes Changeover
// hours (boot, restore and what is lost of progress), is paid for and does no work; a
// stop is free.
type Case struct {
	Work       float64 // C0: h of work at submission
	Time       float64 // R0: h from submission to the deadline
	Changeover float64 // d: h that a start takes
	Tick       float64 // h between two decisions; 0: at once whenever anything changes
	Grant      float64 // h beyond Changeover that what surely runs may take, nine times in ten
	Rate       float64 // k: of what surely runs, over that of spot
}

// View is what a rule sees when it decides.
type View struct {
	Work  float64 // C: h of work left
	Time  float64 // R: h to the deadline
	Spent float64 // paid so far, in hours of spot
	Mode  Mode
	There bool    // spot that the job can use is there
	Age   float64 // h since There was first seen as it is
	Life  float64 // mean spell of spot being there, h, as seen so far; 0: nothing is known
}

// Rule says what a job should hold from now on. It says Spot only where View.There.
type Rule func(c *Case, v View) Mode

// Net is how much time must be left to the deadline for a job with work hours left
// to go without what surely runs until the next decision. Below it the safety net is
// due:
//
//	R < C + max(2d, d + tick) + grant.
//
// One changeover is that of the net. The other is that of a spot machine from which
// the net may be called before it did any work; the tick is what waiting for another
// decision takes off R.
func Net(work, changeover, tick, grant float64) float64 {
	return work + max(2*changeover, changeover+tick) + grant
}

// slack is the time that may be lost before the safety net is due, h. It never
// grows: an hour of work takes an hour.
func (c *Case) slack(v View) float64 {
	return v.Time - Net(v.Work, c.Changeover, c.Tick, c.Grant)
}
