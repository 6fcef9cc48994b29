package fake

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/provider"
)

func TestBrokenLineIsReportedAndTheRestIsServed(t *testing.T) {
	s, err := ParseScenario("storm.txt", strings.Join([]string{
		"# a comment", "", "throttle 5m", "at noon throttle 5m", "  launch fails capacity x3 # the next three", "launch explodes",
	}, "\n"))
	var got []int
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("error %v", err)
	}
	for _, e := range joined.Unwrap() {
		var at *LineError
		if !errors.As(e, &at) || at.File != "storm.txt" {
			t.Fatalf("error %#v", e)
		}
		got = append(got, at.Line)
	}
	if diff := cmp.Diff([]int{4, 6}, got); diff != "" {
		t.Errorf("lines reported (-want +got):\n%s", diff)
	}
	if want := "throttle 5m\nlaunch fails capacity x3 # the next three\n"; s.String() != want {
		t.Errorf("what is left: %q, want %q", s, want)
	}
}

func TestLinesThatCannotBeRead(t *testing.T) {
	for line, want := range map[string]string{
		"at 10m":                                   "a statement is missing",
		"explode":                                  "no statement begins so",
		"at -1m limit 3":                           "negative",
		"at 1 throttle 5m":                         "want a time such as",
		"at 999999h throttle 1m":                   "twenty years",
		"every 0s x3 throttle 1m":                  "want a time and how often",
		"every 1h throttle 1m":                     "want a time and how often",
		"every 20000h x10000 throttle 1m":          "twenty years in all",
		"on [ throttle 1m":                         "syntax error in pattern",
		"throttle 5m 6m":                           `"6m" is too much`,
		"launch fails":                             "an error kind is missing",
		"launch fails sometimes":                   "want one of capacity, quota",
		"launch of p3.2xlarge fails capacity":      "want cloud/zone/type/market",
		"launch fails capacity x0":                 "want x and a number of times",
		"launch fails capacity for 0s":             "want a time",
		"launch boots with 8 of 8":                 "want a part",
		"launch partial 9 of 8":                    "the part is larger than the whole",
		"launch partial 0 of 0":                    "nobody asks for no machine",
		"listing of aws/a/b/spot empty":            "only a launch and a termination are of an offering",
		"listing late 5s":                          "nothing of that name befalls a listing",
		"listing shows id":                         "want FIELD=VALUE",
		"listing shows colour=red":                 "an instance has no such field",
		"listing shows state=sleeping":             "want a number",
		"listing shows offering=aws/a/b/sometimes": `market "sometimes"`,
		"quotas lags 5s":                           "nothing of that name befalls a quotas",
		"pool aws/a/b/spot explodes":               "a pool goes up or down",
		"pool aws/a/b/spot replays":                "no spell is given",
		"pool aws/a/b/spot replays up 0s":          "a spell of no length",
		"pool aws/a/b/spot holds -1":               "want a number from 0",
		"take 1 aws/a/b/spot":                      `want "of"`,
		"foreign 20000 of aws/a/b/spot":            "at most 10000",
		"block cr-1 holds 2 from 0s until 1h":      "want cloud/zone/type/market",
		"quota us-east-1/P 8":                      "want region/family/market",
		"price aws/a/b/spot 1e9":                   "want US dollars per hour",
		"price aws/a/b/spot times -1":              "want a positive number",
		"limit 3":                                  `"per" is missing`,
		"host of aws/a/b/spot":                     `"fails" is missing`,
	} {
		s, err := ParseScenario("f", line)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "f:1: ") {
			t.Errorf("%q: error %v, want %q", line, err, want)
		}
		if s == nil || s.String() != "" {
			t.Errorf("%q: something is left of it: %q", line, s)
		}
	}
}

func TestLinesThatDoNotFitTheCloud(t *testing.T) {
	for line, want := range map[string]string{
		"pool aws/use1-az9/p3.2xlarge/spot down":                                "nothing of that name is sold here",
		"launch of aws/*/p9.huge/spot fails capacity":                           "nothing of that name is sold here",
		"foreign 1 of aws/use1-az1/p3.2xlarge/*":                                "want one offering",
		"quota use1-az/P/spot 8":                                                "the class has no limit before",
		"quota use1-az/G/spot 8 vcpu":                                           "nothing that is sold here counts against",
		"block aws/use1-az1/p3.2xlarge/spot holds 1 from 0s until 1h":           "of the reserved market",
		"block aws/use1-az1/p5.48xlarge/reserved/cr-1 holds 1 from 1h until 1h": "it ends before it begins",
	} {
		c := theatre(t, "empty", "")
		if err := c.Do("throttle 5m", line); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "do:2: ") {
			t.Errorf("%q: error %v, want %q", line, err, want)
		}
		if _, err := c.Instances(context.Background()); err != nil {
			t.Errorf("%q: the line before it was done: %v", line, err)
		}
	}
	if err := theatre(t, "empty", "").Do("pool gcp/z/v2-8/spot down"); err != nil {
		t.Errorf("a line about another cloud: %v", err)
	}
}

func TestHangingCallEndsWithItsContextAndKeepsNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := theatre(t, "hangs", "launch hangs\nlaunch hangs after\nlisting hangs")
		for _, bought := range []int{0, 1} {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() {
				_, err := c.Launch(ctx, request("a", v100, 1, 1))
				done <- err
			}()
			synctest.Wait() // the call hangs
			if _, err := c.Quotas(t.Context()); err != nil {
				t.Errorf("another call meanwhile: %v", err)
			}
			cancel()
			if err := <-done; !errors.Is(err, provider.ErrUnknown) || !errors.Is(err, context.Canceled) {
				t.Errorf("hanging launch: %v", err)
			}
			if n := len(c.Machines()); n != bought {
				t.Errorf("%d machines, want %d", n, bought)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, err := c.Instances(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("hanging listing: %v", err)
		}
		if launches, listings := c.Asked(LaunchCall), c.Asked(ListingCall); launches != 2 || listings != 1 {
			t.Errorf("%d launches and %d listings were asked for, want 2 and 1", launches, listings)
		}
	})
}

func TestPoolHeldUpSparesItsMachinesUntilThen(t *testing.T) {
	c := newCloud(t, stormy(1, 1), nil)
	untilUp(t, c, v100Spot)
	var down Spell // the next one
	for _, s := range c.Walk(v100Spot.Pool(), c.Now(), c.Now().Add(100*time.Hour)) {
		if !s.Up {
			down = s
			break
		}
	}
	held := down.From.Add(down.To.Sub(down.From) / 2)
	if err := c.Do("pool aws/use1-az1/p3.2xlarge/spot up for " + held.Sub(c.Now()).String()); err != nil {
		t.Fatal(err)
	}
	mustLaunch(t, c, request("a", v100Spot, 2, 2))
	c.Advance(held.Add(-time.Second))
	if i := list(t, c)[0]; i.State != provider.Running {
		t.Errorf("while the pool is held up: %+v", i)
	}
	mustLaunch(t, c, request("b", v100Spot, 1, 1))
	c.Advance(held)
	for _, i := range list(t, c) {
		if i.Cause != provider.Interrupted || !i.Ended.Equal(held) {
			t.Errorf("once it is not: %+v", i)
		}
	}
}

func TestReplayedSpellsCoverTheWeather(t *testing.T) {
	climate := stormy(1, 1)
	s, err := ParseScenario("replay", "pool aws/use1-az1/p3.2xlarge/spot replays up 3h down 20m up 5h down 1h")
	if err != nil {
		t.Fatal(err)
	}
	c := newCloud(t, climate, func(cfg *Config) { cfg.Scenario = s })
	to := start.Add(9*time.Hour + 20*time.Minute)
	want := []Spell{
		{start, start.Add(3 * time.Hour), true},
		{start.Add(3 * time.Hour), start.Add(200 * time.Minute), false},
		{start.Add(200 * time.Minute), start.Add(500 * time.Minute), true},
		{start.Add(500 * time.Minute), to, false},
	}
	if diff := cmp.Diff(want, c.Walk(v100Spot.Pool(), start, to)); diff != "" {
		t.Errorf("spells (-want +got):\n%s", diff)
	}
	quiet := newCloud(t, climate, nil)
	later := to.Add(200 * time.Hour)
	if diff := cmp.Diff(quiet.Walk(v100Spot.Pool(), to, later), c.Walk(v100Spot.Pool(), to, later)); diff != "" {
		t.Errorf("the weather afterwards (-without +with a replay):\n%s", diff)
	}
	mustLaunch(t, c, request("a", v100Spot, 1, 1))
	c.Advance(start.Add(3 * time.Hour))
	if i := list(t, c)[0]; i.Cause != provider.Interrupted || !i.Ended.Equal(start.Add(3*time.Hour)) {
		t.Errorf("at the end of the spell: %+v", i)
	}
}

// TestReadmeExample plays the example of README.md, so that it stays true, and
// holds it against the list of statements.
func TestReadmeExample(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```scenario\n")
	example, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("README.md has no example of a scenario")
	}
	c := theatre(t, "README.md", example)
	ctx := context.Background()
	var got []string
	for _, at := range []time.Duration{0, 12 * time.Minute, 12 * time.Minute, 20 * time.Minute} {
		c.Advance(start.Add(at))
		machines, err := c.Launch(ctx, request("a", v100Spot, 8, 1))
		word, _ := KindWord(err)
		got = append(got, at.String()+" "+strings.Join(rows(c, machines), ", ")+word)
	}
	want := []string{"0s unknown", "12m0s capacity", "12m0s capacity", "20m0s capacity"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what a caller sees (-want +got):\n%s", diff)
	}
	for verb := range verbs {
		if !strings.Contains(string(text), "`"+verb) {
			t.Errorf("README.md does not describe %q", verb)
		}
	}
	for _, fault := range AllFaults() {
		if !strings.Contains(string(text), fault.String()) {
			t.Errorf("README.md does not name the fault %q", fault)
		}
	}
}

func FuzzParseScenario(f *testing.F) {
	for verb := range verbs {
		f.Add("at 10m every 1h x2 " + verb + " of aws/use1-az1/p3.2xlarge/spot down for 5m x3")
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScenario("fuzz", text)
		again, err2 := ParseScenario("fuzz", s.String())
		if err2 != nil || again.String() != s.String() {
			t.Fatalf("what was read is not read again: %v", err2)
		}
		if broken := strings.Count(text, "\n") + 1; err != nil {
			for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
				var at *LineError
				if !errors.As(e, &at) || at.Line < 1 || at.Line > broken {
					t.Fatalf("error %v names no line", e)
				}
			}
		}
		c := theatre(t, "empty", "")
		for _, st := range s.statements { // each by itself, so that one that does not fit keeps no other
			if st.reps > 100 {
				continue
			}
			_ = c.play(&Scenario{statements: []statement{st}}, c.now)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		time.AfterFunc(10*time.Millisecond, cancel)
		got, _ := c.Launch(ctx, request("a", v100Spot, 8, 1))
		c.Advance(start.Add(24 * time.Hour))
		_, _ = c.Instances(ctx)
		for _, i := range got {
			_ = c.Terminate(ctx, i.ID)
		}
	})
}

// A row that names its offering is whole: account and region are those of the zone. One
// that spells out the fields, or names another region after it, shows what it says.
func TestRowThatNamesItsOfferingHasItsRegion(t *testing.T) {
	for _, tt := range []struct{ row, region string }{
		{"offering=aws/use1-az1/p3.2xlarge/spot", v100.Region},
		{"region=nowhere offering=aws/use1-az1/p3.2xlarge/spot", v100.Region},
		{"offering=aws/use1-az1/p3.2xlarge/spot region=nowhere", "nowhere"},
		{"offering=aws/use1-az1/p3.2xlarge/spot region=", ""},
		{"offering=aws/no-such-zone/p3.2xlarge/spot", ""},
		{"cloud=aws zone=use1-az1 type=p3.2xlarge market=spot", ""},
	} {
		c := theatre(t, "empty", "")
		if err := c.Do("on aws listing shows id=i-1 state=running " + tt.row); err != nil {
			t.Fatal(err)
		}
		rows := list(t, c)
		if got := rows[0].Offering; len(rows) != 1 || got.Region != tt.region {
			t.Errorf("%s: offering %+v of region %q, want %q", tt.row, got, got.Region, tt.region)
		}
	}
	c := theatre(t, "empty", "")
	if err := c.Do("listing shows id=i-1 state=running offering=" + v100.String()); err != nil {
		t.Fatal(err)
	}
	if got := list(t, c)[0].Offering; got != v100 {
		t.Errorf("offering %+v, want %+v", got, v100)
	}
}

// FuzzListing shows rows of any kind beside a machine of ours: the row may be
// refused, but the machine is always listed.
func FuzzListing(f *testing.F) {
	for _, row := range broken {
		f.Add(row)
	}
	f.Add("id=i-1 offering=aws/use1-az1/p3.2xlarge/spot state=running launched=-1h started=-59m home=-58m accelerators=8 cause=2 epoch=9 round=8 intent=x")
	f.Fuzz(func(t *testing.T, row string) {
		c := theatre(t, "empty", "")
		ours := mustLaunch(t, c, request("a", v100, 1, 1))[0]
		row = strings.NewReplacer("\n", " ", "\r", " ").Replace(row)
		err := c.Do("on aws listing shows " + row)
		var at *LineError
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("error %v names no line", err)
		}
		listed := list(t, c)
		if listed[0] != ours {
			t.Fatalf("our machine is listed as %+v, it is %+v", listed[0], ours)
		}
		if err != nil && len(listed) != 1 {
			t.Fatalf("a row that was refused is listed: %+v", listed[1:])
		}
	})
}
