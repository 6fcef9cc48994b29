package autoscale

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// TestAnUntriedTypeBootsLikeThoseThatWere: what is expected of a type of which no boot was
// seen follows from those most like it, so that it is not passed over for a guess.
func TestAnUntriedTypeBootsLikeThoseThatWere(t *testing.T) {
	one := provider.InstanceType{Cloud: "aws", Name: "one", Kind: provider.GPU, Accelerator: "V100", Count: 1, Hosts: 1, VCPU: 8, MemGiB: 61, AcceleratorMemGiB: 16}
	four, eight, slice, far, other, third := one, one, one, one, one, one
	four.Name, four.Count = "four", 4
	eight.Name, eight.Count = "eight", 8
	slice.Name, slice.Kind = "slice", provider.TPU
	far.Cloud = "gcp"
	other.Name, third.Name = "other", "third"
	type boot struct {
		typ  provider.InstanceType
		took time.Duration
	}
	times := func(n int, b boot) (list []boot) {
		for range n {
			list = append(list, b)
		}
		return list
	}
	const guess = 3 * time.Minute
	catalogue, err := provider.NewCatalogue([]provider.InstanceType{one})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		seen  []boot
		want  time.Duration
		grant time.Duration // by how much nine in ten take longer
	}{
		{"nothing was seen", nil, guess, guess},
		{"once another size", []boot{{eight, time.Minute}}, 2 * time.Minute, guess},
		{"often another size", times(20, boot{eight, time.Minute}), 80 * time.Second, guess},
		{"the size next to it goes before others", append(times(5, boot{eight, 10 * time.Minute}), times(5, boot{four, time.Minute})...), 80 * time.Second, guess},
		{"two that are as near", append(times(5, boot{other, time.Minute}), times(5, boot{third, 7 * time.Minute})...),
			(guess + 40*time.Minute) / 11, (guess + 40*time.Minute) / 11},
		{"other clouds and kinds say nothing", []boot{{slice, time.Minute}, {far, time.Minute}}, guess, guess},
		{"its own", append(times(5, boot{eight, 10 * time.Minute}), boot{one, time.Minute}), time.Minute, time.Minute},
	} {
		l := &Loop{boots: bootTimes{}, cfg: Config{Settings: Settings{Boot: guess}, Catalogue: catalogue}}
		for _, b := range tt.seen {
			l.boots.learn(b.typ, b.took)
		}
		o := provider.Offering{Cloud: "aws", Type: one.Name}
		if got := l.bootOf(o); (got - tt.want).Abs() > time.Second {
			t.Errorf("%s: expected to take %v, want %v", tt.name, got, tt.want)
		}
		if got := l.grantOf(o); (got - tt.grant).Abs() > time.Second {
			t.Errorf("%s: may take %v longer, want %v", tt.name, got, tt.grant)
		}
	}
}
