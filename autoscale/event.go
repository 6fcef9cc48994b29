package autoscale

// Kinds of events.
const (
	EventSubmit       = "submit"        // a job was handed in
	EventCancel       = "cancel"        // a person took it back
	EventPlan         = "plan"          // a job got another target, or none
	EventLaunch       = "launch"        // a machine was bought
	EventLaunchFailed = "launch-failed" // a launch was refused, or came up short
	EventAnswered     = "answered"      // what became of a launch whose answer was lost
	EventReady        = "ready"         // a machine may carry gangs
	EventStart        = "start"         // a gang was started
	EventStop         = "stop"          // a gang was told to stop
	EventStopped      = "stopped"       // it has stopped
	EventHint         = "hint"          // the cloud may take a machine back
	EventNotice       = "notice"        // the cloud takes a machine back soon
	EventLoss         = "loss"          // a machine went away under us
	EventLost         = "lost"          // a job lost its gang
	EventFailed       = "failed"        // a job's program failed
	EventCorrected    = "corrected"     // a job's speed was not the one expected
	EventDeadline     = "deadline"      // how the plan stands to a job's deadline has changed
	EventMove         = "move"          // a job is to leave its machines for others
	EventHeld         = "held"          // a job stays although its work would be cheaper elsewhere; told once a place
	EventDone         = "done"          // a job's work is done
	EventRelease      = "release"       // we ended a machine
	EventEnded        = "ended"         // the cloud confirms it
	EventDenied       = "denied"        // the cloud refused to end it
	EventDrain        = "drain"         // a machine will be ended when its gangs have left
	EventFrozen       = "frozen"        // a cloud could not be listed
	EventThawed       = "thawed"        // it can again
	EventBackOff      = "back-off"      // something may not be bought for a while
	EventRetry        = "retry"         // it may again
	EventAdopt        = "adopt"         // a machine of ours that no record knew
	EventOdd          = "odd"           // a row of a listing or of the store that cannot be read was skipped
	EventQuarantine   = "quarantine"    // a machine came up unfit, or not at all
	EventMeasured     = "measured"      // machines of a type are not what the catalogue says
	EventBudget       = "budget"        // a total is nearly, or wholly, used up
	EventOrphan       = "orphan"        // a machine of ours that nothing accounts for
	EventBreaker      = "breaker"       // too much was to end at once, or the clock is wrong: nothing is done
	EventResume       = "resume"        // a person lifted the breaker
	EventFrozenStart  = "frozen-start"  // the store is older than its machines: nothing is done
	EventOverride     = "override"      // a person overruled the plan
	EventLifted       = "lifted"        // and does so no more
)
