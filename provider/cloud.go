package provider

import "context"

// Cloud is the seam that every supplier of machines fills. Its calls are safe
// for concurrent use, honour ctx, and wrap every error in one of the error kinds.
type Cloud interface {
	// Name is the Cloud of its offerings: "aws", "gcp".
	Name() string

	// Instances lists the machines that carry any fleet's tags, live ones and
	// those that ended within the last hours. A failed listing says nothing
	// about any machine.
	Instances(ctx context.Context) ([]Instance, error)

	// Interruptions lists the notices and hints in force and the losses of the last
	// hours, one row a machine: a notice replaces a hint. Each may be listed many times.
	Interruptions(ctx context.Context) ([]Interruption, error)

	// Quotas lists the limits of the account. A class that is missing is not limited.
	Quotas(ctx context.Context) ([]Quota, error)

	// Launch buys machines. What came up is returned, even with an error
	// (*LaunchError) about the rest. A repeated token buys nothing.
	Launch(ctx context.Context, req LaunchRequest) ([]Instance, error)

	// Terminate ends machines. One that is already gone is no error.
	Terminate(ctx context.Context, ids ...InstanceID) error
}
