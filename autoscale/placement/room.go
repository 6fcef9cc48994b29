package placement

import (
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Room is what is left on a machine, and how many nodes of larger gangs lie there.
type Room struct {
	Accelerators int
	VCPU, MemGiB float64

	gangs  int // nodes of gangs of several
	closed int // of these, those that share with none of their kind
}

// RoomOf is a machine of a type with nobody on it.
func RoomOf(t provider.InstanceType) Room {
	return Room{Accelerators: t.Count, VCPU: float64(t.VCPU), MemGiB: t.MemGiB}
}

// spare is by how much vCPU and memory may be overdrawn by rounding.
const spare = 1e-9

// Lacks names what a node of job in config c has too little of here; "" when it fits. Of
// a job that is not known (nil) only the accelerators count.
func (r *Room) Lacks(job *planner.Job, c planner.Config) string {
	n := c.Replicas / c.Nodes
	switch {
	case r.Accelerators < n:
		return "accelerators"
	case job == nil:
		return ""
	case r.VCPU < job.Resources.VCPU*float64(n)-spare:
		return "vCPU"
	case r.MemGiB < job.Resources.MemGiB*float64(n)-spare:
		return "memory"
	}
	return ""
}

// Meets reports whether a node of job would meet one of another gang of several nodes
// with which it may not share a machine.
func (r *Room) Meets(job *planner.Job, c planner.Config) bool {
	return c.Nodes > 1 && r.gangs > 0 && !(job.Resources.ShareNodes && r.closed == 0)
}

// Share gives the accelerators back that a node has with which the next in config c shares them.
func (r *Room) Share(c planner.Config) { r.Accelerators += c.Replicas / c.Nodes }

// Give takes what a node of job needs; of a job that is not known, accelerators alone.
func (r *Room) Give(job *planner.Job, c planner.Config) {
	n := c.Replicas / c.Nodes
	r.Accelerators -= n
	if job == nil {
		return
	}
	r.VCPU -= job.Resources.VCPU * float64(n)
	r.MemGiB -= job.Resources.MemGiB * float64(n)
	if c.Nodes > 1 {
		r.gangs++
		if !job.Resources.ShareNodes {
			r.closed++
		}
	}
}
