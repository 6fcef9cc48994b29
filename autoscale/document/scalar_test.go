package document

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDurationsSurviveTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "nanoseconds"))
		text := FormatDuration(want)
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Fatalf("%v as %q reads as %v, %v", want, text, got, err)
		}
	})
}

func TestDurationsAreWrittenAsPeopleDo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 30 * time.Second: "30s", 30 * time.Minute: "30m", 90 * time.Minute: "1h30m", 2 * time.Hour: "2h", 48 * time.Hour: "2d",
		60*time.Hour + 10*time.Second: "2d12h0m10s", 1500 * time.Millisecond: "1.5s", 10 * time.Minute: "10m", 10 * time.Hour: "10h",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}

func TestDurationsThatAreNoneAreRefused(t *testing.T) {
	for _, text := range []string{"", "d", "30", "-1d", "1.5d", "d1h", "1h2d", "99999999d", "106751d24h", "1w", "30m ", "NaN", "1e3s"} {
		if d, err := ParseDuration(text); err == nil {
			t.Errorf("%q reads as %v, want an error", text, d)
		}
	}
}

func TestSizesHaveUnits(t *testing.T) {
	for text, want := range map[string]float64{
		"80GiB": 80, "80 GiB": 80, "1.5TiB": 1536, "512 MiB": 0.5, "1PiB": 1 << 20, "1024KiB": 1.0 / 1024, "1 GB": 1e9 / (1 << 30), "2TB": 2e12 / (1 << 30), "0GiB": 0,
	} {
		if got, err := ParseSize(text); err != nil || math.Abs(got-want) > 1e-12*want {
			t.Errorf("%q is %g GiB, %v, want %g", text, got, err, want)
		}
	}
	for _, text := range []string{"", "80", "GiB", " GiB", "80GIB", "80gib", "80 B", "-1GiB", "+1GiB", ".5GiB", "1.GiB", "1e3GiB", "NaNGiB", "1,5GiB", "80  GiB", "1..5GiB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q reads as %g GiB, want an error", text, got)
		}
	}
}
