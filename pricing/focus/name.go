package focus

import (
	"strings"

	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Account is a billing account, or one below it.
type Account struct{ ID, Name, Type string }

// types is what descriptions need of the catalogue.
type types interface {
	Lookup(cloud, name string) (provider.InstanceType, bool)
}

// Names is what bills say and a ledger does not know. What is not set is left empty,
// but for the billing account, which the standard wants: see Config.
type Names struct {
	BillingAccount Account
	SubAccount     Account
	Resource       func(cloud string, id provider.InstanceID) string // its name; nil: none has one
	Zones          map[string]string                                 // what the account calls a zone id: "use1-az1" is its "us-east-1a"
	Types          types
}

func (n Names) zone(id string) string {
	if name, ok := n.Zones[id]; ok {
		return name
	}
	return id
}

func (n Names) resource(cloud string, id provider.InstanceID) string {
	if n.Resource == nil {
		return ""
	}
	return n.Resource(cloud, id)
}

// regionNames are what the clouds call their regions in bills.
var regionNames = map[string]string{
	"us-east-1": "US East (N. Virginia)", "us-east-2": "US East (Ohio)", "us-west-1": "US West (N. California)", "us-west-2": "US West (Oregon)",
	"ca-central-1": "Canada (Central)", "sa-east-1": "South America (Sao Paulo)",
	"eu-west-1": "Europe (Ireland)", "eu-west-2": "Europe (London)", "eu-west-3": "Europe (Paris)", "eu-central-1": "Europe (Frankfurt)",
	"eu-north-1": "Europe (Stockholm)", "eu-south-1": "Europe (Milan)",
	"ap-south-1": "Asia Pacific (Mumbai)", "ap-northeast-1": "Asia Pacific (Tokyo)", "ap-northeast-2": "Asia Pacific (Seoul)",
	"ap-southeast-1": "Asia Pacific (Singapore)", "ap-southeast-2": "Asia Pacific (Sydney)",
	"us-central1": "Iowa", "us-east1": "South Carolina", "us-east4": "Northern Virginia", "us-east5": "Columbus", "us-west1": "Oregon", "us-west4": "Las Vegas",
	"europe-west1": "Belgium", "europe-west4": "Netherlands", "europe-north1": "Finland", "asia-east1": "Taiwan", "asia-northeast1": "Tokyo", "asia-southeast1": "Singapore",
}

// service is how a cloud's bill files what was paid for.
type service struct {
	name, category, subcategory string
	code, resource, meter       string
}

// serviceOf finds the service. Each name has one category.
func serviceOf(cloud string, item ledger.Item, tpu bool) service {
	aws := cloud == "aws"
	pick := func(onAWS, elsewhere string) string {
		if aws {
			return onAWS
		}
		return elsewhere
	}
	switch item {
	case ledger.Disk:
		return service{pick("Amazon Elastic Block Store", "Persistent Disk"), "Storage", "Block Storage", pick("AmazonEBS", "PersistentDisk"), "Volume", "Storage"}
	case ledger.Address:
		return service{pick("Amazon Virtual Private Cloud", "Networking"), "Networking", "Network Infrastructure", pick("AmazonVPC", "Networking"), "Address", "IPv4 Address"}
	case ledger.Traffic:
		return service{pick("AWS Data Transfer", "Network Data Transfer"), "Networking", "Network Connectivity", pick("AWSDataTransfer", "NetworkDataTransfer"), "Data Transfer", "Data Transfer"}
	case ledger.Controller:
		return service{"goodfleet", "Management and Governance", "Other (Management and Governance)", "goodfleet", "Controller", "Controller"}
	case ledger.Other:
		return service{"Other charges", "Other", "Other (Other)", "Other", "Line Item", ""}
	}
	if tpu {
		return service{"Cloud TPU", "AI and Machine Learning", "Machine Learning", "CloudTPU", "Instance", "Compute Usage"}
	}
	return service{pick("Amazon Elastic Compute Cloud", "Compute Engine"), "Compute", "Virtual Machines", pick("AmazonEC2", "ComputeEngine"), "Instance", "Compute Usage"}
}

// providerName is the cloud's name on its bills.
func providerName(cloud string) string {
	switch cloud {
	case "aws":
		return "AWS"
	case "gcp":
		return "Google Cloud"
	}
	return cloud
}

// series is the family of a type as bills write it: "P4d".
func series(name string) string {
	family, _, _ := strings.Cut(name, ".")
	if before, _, cut := strings.Cut(family, "-"); cut {
		family = before
	}
	if family == "" {
		return ""
	}
	return strings.ToUpper(family[:1]) + family[1:]
}
