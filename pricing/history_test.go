package pricing

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/provider"
)

// drawHistory makes the quotes and ends of a few offerings, by the minute.
func drawHistory(t *rapid.T) ([]Quote, []End) {
	var quotes []Quote
	var ends []End
	for i := range rapid.IntRange(1, 5).Draw(t, "offerings") {
		o := provider.Offering{Cloud: "aws", Region: "r", Zone: "z", Type: string(rune('a' + i)), Market: provider.Market(1 + i%2)}
		minutes := rapid.SliceOfNDistinct(rapid.IntRange(0, 60), 0, 10, rapid.ID[int]).Draw(t, "minutes")
		for _, m := range minutes {
			at := hazardStart.Add(time.Duration(m) * time.Minute)
			if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
				ends = append(ends, End{Offering: o, At: at})
				continue
			}
			quotes = append(quotes, Quote{Offering: o, Rate: Rate(rapid.IntRange(1, 4).Draw(t, "rate")), At: at, Source: "s"})
		}
	}
	return quotes, ends
}

// rateBySearch looks through everything: the last word on o up to at.
func rateBySearch(quotes []Quote, ends []End, o provider.Offering, at time.Time) (Quote, bool) {
	var last Quote
	ok := false
	for _, q := range quotes {
		if q.Offering == o && !q.At.After(at) && (!ok || q.At.After(last.At)) {
			last, ok = q, true
		}
	}
	for _, e := range ends {
		if ok && e.Offering == o && !e.At.After(at) && e.At.After(last.At) {
			return Quote{}, false
		}
	}
	return last, ok
}

func TestHistoryAnswersAsASearchThroughAllQuotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quotes, ends := drawHistory(t)
		h, err := NewHistory(quotes, ends)
		if err != nil {
			t.Fatal(err)
		}
		var before *Book
		for range 20 {
			at := hazardStart.Add(time.Duration(rapid.IntRange(-60, 3700).Draw(t, "second")) * time.Second)
			book, err := h.Book(at)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			for _, o := range h.Offerings() {
				q, ok := rateBySearch(quotes, ends, o, at)
				if ok {
					want++
				}
				if rate, known := h.RateAt(o, at); known != ok || rate != q.Rate {
					t.Fatalf("rate of %s at %s: %s %v, want %s %v", o, at, rate, known, q.Rate, ok)
				}
				got, known := book.Quote(o)
				if known != ok || known && got != q {
					t.Fatalf("quote of %s at %s: %+v %v, want %+v %v", o, at, got, known, q, ok)
				}
				if age, known := book.Age(o); known && age != at.Sub(q.At) {
					t.Fatalf("age of %s at %s: %s", o, at, age)
				}
			}
			if len(book.Quotes()) != want || !book.At().Equal(at) {
				t.Fatalf("book of %s has %d quotes at %s, want %d", at, len(book.Quotes()), book.At(), want)
			}
			// The book is that of a fresh history, whatever was asked before.
			fresh, _ := NewHistory(quotes, ends)
			again, _ := fresh.Book(at)
			if diff := cmp.Diff(again.Quotes(), book.Quotes()); diff != "" {
				t.Fatalf("cached book (-fresh +cached):\n%s", diff)
			}
			if before != nil && before.Same(book) && len(book.Quotes()) > 0 {
				if diff := cmp.Diff(before.Quotes(), book.Quotes()); diff != "" {
					t.Fatal("books that are the same differ")
				}
			}
			before = book
		}
	})
}

// TestChangesReplayTheBooks: taking in each change, and asking for a book at each
// instant of change, gives the same as asking for a rate at any time.
func TestChangesReplayTheBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quotes, ends := drawHistory(t)
		h, err := NewHistory(quotes, ends)
		if err != nil {
			t.Fatal(err)
		}
		from := hazardStart.Add(time.Duration(rapid.IntRange(-1, 60).Draw(t, "from")) * time.Minute)
		to := from.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "length")) * time.Minute)
		changes := h.Changes(from, to, nil)
		for i, c := range changes {
			if !c.At.After(from) || c.At.After(to) || i > 0 && c.At.Before(changes[i-1].At) {
				t.Fatalf("change at %s, from %s to %s", c.At, from, to)
			}
			if was, ok := h.RateAt(c.Offering, c.At.Add(-time.Second)); ok && was == c.Rate {
				t.Fatalf("change of %s at %s is none", c.Offering, c.At)
			}
		}
		// Between two instants of NextChange no rate changes.
		last, err := h.Book(from)
		if err != nil {
			t.Fatal(err)
		}
		for minute := 0; minute <= 62; minute++ {
			at := from.Add(time.Duration(minute) * time.Minute)
			book, _ := h.Book(at)
			next, ok := h.NextChange(last.At())
			changed := ok && !next.After(at)
			if !changed && !last.Same(book) && len(book.Quotes()) > 0 {
				t.Fatalf("book changed at %s, next change %s", at, next)
			}
			last = book
		}
	})
}

func TestRestrictedHistoryAgreesAndShares(t *testing.T) {
	h, err := EmbeddedHistory()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2023, 6, 1, 12, 0, 0, 0, time.UTC)
	keep := func(o provider.Offering) bool { return o.Cloud == "aws" && o.Type == "p3.2xlarge" }
	small := h.Restrict(keep)
	book, err := small.Book(at)
	if err != nil {
		t.Fatal(err)
	}
	if len(book.Quotes()) < 20 {
		t.Errorf("only %d quotes of p3.2xlarge", len(book.Quotes()))
	}
	for _, o := range h.Offerings() {
		got, gotOK := small.RateAt(o, at)
		want, wantOK := h.RateAt(o, at)
		if !keep(o) {
			want, wantOK = 0, false
		}
		if got != want || gotOK != wantOK {
			t.Errorf("%s: restricted %s %v, want %s %v", o, got, gotOK, want, wantOK)
		}
	}
	week := at.Add(7 * 24 * time.Hour)
	if diff := cmp.Diff(h.Changes(at, week, keep), small.Changes(at, week, nil)); diff != "" {
		t.Errorf("changes of a week (-all +restricted):\n%s", diff)
	}
}

func TestHistoryWithMoreQuotesLeavesTheFirstAlone(t *testing.T) {
	o := gcp("a2-highgpu-1g", provider.Spot)
	p := gcp("a2-highgpu-2g", provider.Spot)
	at := func(minute int) time.Time { return hazardStart.Add(time.Duration(minute) * time.Minute) }
	h, err := NewHistory([]Quote{{Offering: o, Rate: 1, At: at(0)}, {Offering: o, Rate: 3, At: at(20)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	more, err := h.With([]Quote{{Offering: o, Rate: 2, At: at(10)}, {Offering: o, Rate: 4, At: at(20)}, {Offering: p, Rate: 9, At: at(5)}})
	if err != nil {
		t.Fatal(err)
	}
	for minute, want := range map[int][2]Rate{0: {1, 1}, 9: {1, 1}, 10: {1, 2}, 20: {3, 4}} {
		old, _ := h.RateAt(o, at(minute))
		got, _ := more.RateAt(o, at(minute))
		if [2]Rate{old, got} != want {
			t.Errorf("minute %d: rates %d and %d, want %d", minute, old, got, want)
		}
	}
	if rate, ok := more.RateAt(p, at(6)); !ok || rate != 9 {
		t.Errorf("new offering: %d %v", rate, ok)
	}
	if _, ok := h.RateAt(p, at(6)); ok {
		t.Error("the first history changed")
	}
	if _, err := h.With([]Quote{{Offering: o, Rate: 0, At: at(1)}}); err == nil {
		t.Error("a rate of 0 was taken in")
	}
}

func TestNewHistoryRefusesWhatNoPriceCanBe(t *testing.T) {
	o := gcp("a2-highgpu-1g", provider.Spot)
	for name, quotes := range map[string][]Quote{
		"zero rate":          {{Offering: o, Rate: 0, At: hazardStart}},
		"negative rate":      {{Offering: o, Rate: -1, At: hazardStart}},
		"no market":          {{Offering: provider.Offering{Cloud: "a", Region: "b", Zone: "c", Type: "d"}, Rate: 1, At: hazardStart}},
		"two at one instant": {{Offering: o, Rate: 1, At: hazardStart}, {Offering: o, Rate: 2, At: hazardStart}},
	} {
		if _, err := NewHistory(quotes, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	h, err := NewHistory(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := h.Span(); ok {
		t.Error("an empty history has a span")
	}
	if _, err := h.Book(time.Time{}); err == nil {
		t.Error("a book at no instant")
	}
	if book, err := h.Book(hazardStart); err != nil || len(book.Quotes()) != 0 {
		t.Errorf("book of an empty history: %v, %v", book, err)
	}
}

func BenchmarkBookOfARestrictedWeek(b *testing.B) {
	h, err := EmbeddedHistory()
	if err != nil {
		b.Fatal(err)
	}
	kept := 0
	h = h.Restrict(func(o provider.Offering) bool {
		keep := kept < 300 && o.Cloud == "aws" && (o.Type[:2] == "p2" || o.Type[:2] == "p3")
		if keep {
			kept++
		}
		return keep
	})
	at := time.Date(2023, 3, 6, 0, 0, 0, 0, time.UTC)
	b.ResetTimer()
	for i := range b.N {
		if _, err := h.Book(at.Add(time.Duration(i%(7*24*60)) * time.Minute)); err != nil {
			b.Fatal(err)
		}
	}
}
