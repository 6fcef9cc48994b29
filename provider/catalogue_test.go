package provider_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/provider"
)

func catalogue(t testing.TB) *provider.Catalogue {
	t.Helper()
	c, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEmbeddedCatalogueHasSaneNumbers(t *testing.T) {
	arches := []string{"amd64", "arm64"}
	for _, typ := range catalogue(t).Types() {
		name := typ.Cloud + "/" + typ.Name
		for _, check := range []struct {
			what string
			ok   bool
		}{
			{"accelerator memory of 8 to 300 GiB", typ.AcceleratorMemGiB >= 8 && typ.AcceleratorMemGiB <= 300},
			{"at most 16 accelerators on a machine", typ.Kind == provider.TPU || typ.Count <= 16 && typ.Hosts == 1},
			{"2 to 400 vCPUs a host", typ.VCPU/typ.Hosts >= 2 && typ.VCPU/typ.Hosts <= 400},
			{"4 to 4096 GiB of memory a host", typ.MemGiB/float64(typ.Hosts) >= 4 && typ.MemGiB/float64(typ.Hosts) <= 4096},
			{"disk under 32 TiB", typ.DiskGiB >= 0 && typ.DiskGiB < 32<<10},
			{"network under 10 Tbit/s", typ.NetworkGbps >= 0 && typ.NetworkGbps < 10_000},
			{"an architecture", slices.Contains(arches, typ.Arch)},
			{"a source", typ.Source != ""},
			{"a quota family", typ.QuotaFamily != ""},
			{"a name without spaces", !strings.ContainsAny(typ.Name, " \t,")},
		} {
			if !check.ok {
				t.Errorf("%s: want %s: %+v", name, check.what, typ)
			}
		}
		if _, err := time.Parse(time.DateOnly, typ.Date); err != nil {
			t.Errorf("%s: date: %v", name, err)
		}
	}
}

func TestEmbeddedCatalogueKnowsTheseMachines(t *testing.T) {
	for _, test := range []struct {
		cloud, name, accelerator string
		count                    int
		memGiB                   float64 // of one accelerator
		vcpu, hosts              int
		family                   string
	}{
		{"aws", "p2.16xlarge", "K80", 16, 12, 64, 1, "P"},
		{"aws", "p3.2xlarge", "V100", 1, 16, 8, 1, "P"},
		{"aws", "p3dn.24xlarge", "V100-32GB", 8, 32, 96, 1, "P"},
		{"aws", "p4d.24xlarge", "A100", 8, 40, 96, 1, "P"},
		{"aws", "p4de.24xlarge", "A100-80GB", 8, 80, 96, 1, "P"},
		{"aws", "p5.48xlarge", "H100", 8, 80, 192, 1, "P"},
		{"aws", "p5e.48xlarge", "H200", 8, 141, 192, 1, "P"},
		{"aws", "g5g.xlarge", "T4G", 1, 16, 4, 1, "G and VT"},
		{"aws", "inf2.48xlarge", "Inferentia2", 12, 32, 192, 1, "Inf"},
		{"aws", "trn1.32xlarge", "Trainium", 16, 32, 128, 1, "Trn"},
		{"aws", "dl1.24xlarge", "Gaudi", 8, 32, 96, 1, "DL"},
		{"gcp", "n1-standard-8+v100x2", "V100", 2, 16, 8, 1, "NVIDIA_V100_GPUS"},
		{"gcp", "a2-ultragpu-8g", "A100-80GB", 8, 80, 96, 1, "NVIDIA_A100_80GB_GPUS"},
		{"gcp", "a3-megagpu-8g", "H100", 8, 80, 208, 1, "NVIDIA_H100_MEGA_GPUS"},
		{"gcp", "g2-standard-24", "L4", 2, 22.494, 24, 1, "NVIDIA_L4_GPUS"},
		// The suffix of v2, v3, v4 and v5p counts TensorCores, two a chip; that of
		// v5e and v6e counts chips.
		{"gcp", "v2-8", "TPU v2", 4, 16, 96, 1, "TPU v2"},
		{"gcp", "v3-32", "TPU v3", 16, 32, 4 * 48, 4, "TPU v3"},
		{"gcp", "v4-16", "TPU v4", 8, 32, 480, 2, "TPU v4"},
		{"gcp", "v5p-8", "TPU v5p", 4, 95, 208, 1, "TPU v5p"},
		{"gcp", "v5e-8", "TPU v5e", 8, 16, 224, 1, "TPU v5e"},
		{"gcp", "v5e-16", "TPU v5e", 16, 16, 448, 4, "TPU v5e"},
		{"gcp", "v6e-256", "TPU v6e", 256, 32, 64 * 180, 64, "TPU v6e"},
	} {
		t.Run(test.name, func(t *testing.T) {
			typ, ok := catalogue(t).Lookup(test.cloud, test.name)
			if !ok {
				t.Fatal("not in the catalogue")
			}
			got := fmt.Sprint(typ.Accelerator, typ.Count, typ.AcceleratorMemGiB, typ.VCPU, typ.Hosts, typ.QuotaFamily)
			want := fmt.Sprint(test.accelerator, test.count, test.memGiB, test.vcpu, test.hosts, test.family)
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestN1HostsCarryTheGPUsOfTheirName parses each name and holds it against what
// Google lets a host of that size carry.
func TestN1HostsCarryTheGPUsOfTheirName(t *testing.T) {
	type most struct {
		vcpu   int
		memGiB float64
	}
	limits := map[string]most{ // the strictest zone's
		"K80x1": {8, 52}, "K80x2": {16, 104}, "K80x4": {32, 208}, "K80x8": {64, 208},
		"P100x1": {16, 104}, "P100x2": {32, 208}, "P100x4": {64, 208},
		"V100x1": {12, 78}, "V100x2": {24, 156}, "V100x4": {48, 312}, "V100x8": {96, 624},
		"T4x1": {48, 312}, "T4x2": {48, 312}, "T4x4": {96, 624},
		"P4x1": {24, 156}, "P4x2": {48, 312}, "P4x4": {96, 624},
	}
	name := regexp.MustCompile(`^n1-(standard|highmem)-(\d+)\+([a-z0-9]+)x(\d)$`)
	standard := map[string]bool{}
	for _, typ := range catalogue(t).Types() {
		if !strings.HasPrefix(typ.Name, "n1-") {
			continue
		}
		part := name.FindStringSubmatch(typ.Name)
		if part == nil {
			t.Errorf("%s is not HOST+GPUxN", typ.Name)
			continue
		}
		vcpu, _ := strconv.Atoi(part[2])
		memory := map[string]float64{"standard": 3.75, "highmem": 6.5}[part[1]] * float64(vcpu)
		if typ.VCPU != vcpu || typ.MemGiB != memory || typ.Accelerator != strings.ToUpper(part[3]) || strconv.Itoa(typ.Count) != part[4] {
			t.Errorf("%s: row says %d vCPU, %g GiB, %d × %s", typ.Name, typ.VCPU, typ.MemGiB, typ.Count, typ.Accelerator)
		}
		key := typ.Accelerator + "x" + part[4]
		limit, ok := limits[key]
		if !ok || typ.VCPU > limit.vcpu || typ.MemGiB > limit.memGiB {
			t.Errorf("%s: Google allows %+v", typ.Name, limit)
		}
		if part[1] == "standard" {
			standard[key] = true
		}
	}
	for key := range limits {
		if !standard[key] {
			t.Errorf("no n1-standard host carries %s", key)
		}
	}
}

func TestAcceleratorsAreListedAndFound(t *testing.T) {
	c := catalogue(t)
	names := c.Accelerators()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names are not sorted and distinct: %q", names)
	}
	want := []string{
		"A100", "A100-80GB", "A10G", "B200", "B300", "GB200", "Gaudi", "H100", "H200", "Inferentia", "Inferentia2", "K80", "L4", "L40S",
		"M60", "P100", "P4", "RTX PRO 4500", "RTX PRO 6000", "Radeon Pro V520", "T4", "T4G", "TPU v2", "TPU v3", "TPU v4", "TPU v5e",
		"TPU v5p", "TPU v6e", "Trainium", "Trainium2", "V100", "V100-32GB",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("accelerators (-want +got):\n%s", diff)
	}
	total := 0
	for _, name := range names {
		for _, typ := range c.WithAccelerator(name) {
			if typ.Accelerator != name {
				t.Errorf("%s is listed under %s", typ.Name, name)
			}
			total++
		}
	}
	if total != len(c.Types()) {
		t.Errorf("%d types by accelerator, want all %d", total, len(c.Types()))
	}
	if got := c.WithAccelerator("V1000"); got != nil {
		t.Errorf("types of an unknown accelerator: %v", got)
	}
}

// TestEveryTypeHasItsQuotaCounter: each family has one counter in either market,
// vCPUs on AWS and accelerators on GCP.
func TestEveryTypeHasItsQuotaCounter(t *testing.T) {
	for _, typ := range catalogue(t).Types() {
		for _, market := range []provider.Market{provider.OnDemand, provider.Spot} {
			code, ok := provider.QuotaCodeOf(typ, market)
			if !ok {
				t.Errorf("%s: no counter of %q, %s", typ.Name, typ.QuotaFamily, market)
				continue
			}
			want := map[string]int{"aws": typ.VCPU, "gcp": typ.Count}[typ.Cloud]
			if got := code.Unit.Use(typ); got != want {
				t.Errorf("%s takes %d of %s, want %d", typ.Name, got, code.Unit, want)
			}
		}
	}
	codes, err := provider.EmbeddedQuotaCodes()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range codes {
		if c.Code != "" && seen[c.Code] {
			t.Errorf("code %s is given to two counters", c.Code)
		}
		seen[c.Code] = true
	}
	for _, c := range []struct {
		typ    string
		market provider.Market
		code   string
	}{
		{"p3.2xlarge", provider.OnDemand, "L-417A185B"}, {"p3.2xlarge", provider.Spot, "L-7212CCBC"},
		{"g5.xlarge", provider.Spot, "L-3819A6DF"}, {"dl1.24xlarge", provider.OnDemand, "L-6E869C2A"},
	} {
		typ, _ := catalogue(t).Lookup("aws", c.typ)
		if got, _ := provider.QuotaCodeOf(typ, c.market); got.Code != c.code {
			t.Errorf("%s %s: code %s, want %s", c.typ, c.market, got.Code, c.code)
		}
	}
}
