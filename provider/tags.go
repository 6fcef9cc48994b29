package provider

// The keys under which drivers write Tags on machines. Clouds differ in what they
// take: Google's labels have lower-case letters, digits, "-" and "_" alone, and EC2
// does not start a machine whose tags can be read in it when a key has a "/". These
// keys pass everywhere.
const (
	FleetKey  = "goodfleet-fleet"
	EpochKey  = "goodfleet-epoch"
	RoundKey  = "goodfleet-round"
	IntentKey = "goodfleet-intent"
)

// TagKeys lists the keys, in the order of the fields of Tags.
func TagKeys() []string { return []string{FleetKey, EpochKey, RoundKey, IntentKey} }
