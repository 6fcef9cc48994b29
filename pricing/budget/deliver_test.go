package budget

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// receiver is a server that notes the ids that it is sent, and answers with a code.
type receiver struct {
	*httptest.Server
	answer func(id string) int
	ids    []string
}

func newReceiver(t *testing.T, answer func(id string) int) *receiver {
	r := &receiver{answer: answer}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		id := req.Header.Get(HeaderID)
		r.ids = append(r.ids, id)
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(r.answer(id))
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) destination(name string) Destination {
	d := destinationOf(r.Server)
	d.Name = name
	return d
}

func openSent(t *testing.T, path string) *Sent {
	t.Helper()
	s, err := OpenSent(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func always(code int) func(string) int { return func(string) int { return code } }

func clock() time.Time { return time.Unix(1764489600, 0) }

func TestDeliverSendsOnceAndTheFailedAgain(t *testing.T) {
	down := true
	good := newReceiver(t, always(http.StatusNoContent))
	bad := newReceiver(t, func(string) int {
		if down {
			return http.StatusNotFound
		}
		return http.StatusOK
	})
	h, err := NewHook(good.destination("good"), bad.destination("bad"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sent")
	due := []Notice{{To: "bad", Policy: "p", Event: "1"}, {To: "bad", Policy: "p", Event: "2"}, {To: "good", Policy: "p", Event: "1"}, {To: "good", Policy: "p", Event: "1"}}

	done, err := h.Deliver(t.Context(), openSent(t, path), due, clock)
	if err == nil || err.Error() != "2 of 3 notices are not sent, and due again: notice to bad: it answers 404 Not Found" {
		t.Errorf("got %v", err)
	}
	if len(done) != 1 || len(good.ids) != 1 || len(bad.ids) != 1 {
		t.Errorf("%d sent; %d to good and %d to bad", len(done), len(good.ids), len(bad.ids))
	}

	down = false
	if done, err = h.Deliver(t.Context(), openSent(t, path), due, clock); err != nil || len(done) != 2 || len(good.ids) != 1 {
		t.Errorf("%d sent, %v; %d to good", len(done), err, len(good.ids))
	}
	if want := []string{due[0].ID(), due[0].ID(), due[1].ID()}; !slices.Equal(bad.ids, want) {
		t.Errorf("bad was sent %v, want %v", bad.ids, want)
	}
	if done, err = h.Deliver(t.Context(), openSent(t, path), due, clock); err != nil || len(done) != 0 || len(good.ids)+len(bad.ids) != 4 {
		t.Errorf("the third time %d are sent, %v", len(done), err)
	}
}

// A notice that a destination takes exception to does not hold up those after it.
func TestOneNoticeThatIsRefusedHoldsUpNoOther(t *testing.T) {
	first := Notice{To: "ops", Policy: "p", Event: "1"}
	r := newReceiver(t, func(id string) int {
		if id == first.ID() {
			return http.StatusUnprocessableEntity
		}
		return http.StatusOK
	})
	h, err := NewHook(r.destination("ops"))
	if err != nil {
		t.Fatal(err)
	}
	second := Notice{To: "ops", Policy: "p", Event: "2"}
	done, err := h.Deliver(t.Context(), openSent(t, filepath.Join(t.TempDir(), "sent")), []Notice{first, second}, clock)
	if err == nil || !strings.HasPrefix(err.Error(), "1 of 2 notices are not sent") || len(done) != 1 || done[0] != second {
		t.Errorf("sent %v, %v", done, err)
	}
}

// What was sent and could not be noted is sent again under the same id.
func TestCrashBetweenSendingAndNotingSendsTheSameIDAgain(t *testing.T) {
	r := newReceiver(t, always(http.StatusOK))
	h, err := NewHook(r.destination("ops"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sent")
	early := Notice{To: "ops", Policy: "p", Event: "1", Text: "60 USD of 100"}
	s := openSent(t, path)
	if err := s.Close(); err != nil { // from here on nothing can be written
		t.Fatal(err)
	}
	if _, err := h.Deliver(t.Context(), s, []Notice{early}, clock); err == nil || !strings.Contains(err.Error(), "sent again under its id "+early.ID()) {
		t.Errorf("got %v", err)
	}
	late := early
	late.Text, late.At = "61 USD of 100", clock()
	if done, err := h.Deliver(t.Context(), openSent(t, path), []Notice{late}, clock); err != nil || len(done) != 1 {
		t.Errorf("sent %v, %v", done, err)
	}
	if len(r.ids) != 2 || r.ids[0] != r.ids[1] {
		t.Errorf("ids %v, want one, twice", r.ids)
	}
}

// A destination cannot have the next try put off for longer than a hook waits.
func TestRetryAfterIsBounded(t *testing.T) {
	h, err := NewHook(Destination{Name: "ops", URL: "https://example.com", Secret: []byte("k")})
	if err != nil {
		t.Fatal(err)
	}
	c := h.client["ops"]
	res := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"86400"}}}
	if got := c.Backoff(c.RetryWaitMin, c.RetryWaitMax, 1, res); got != c.RetryWaitMax {
		t.Errorf("waits %v, want %v", got, c.RetryWaitMax)
	}
}

// An error names the destination and not its URL, in which there may be a key.
func TestErrorsDoNotShowTheURL(t *testing.T) {
	r := newReceiver(t, always(http.StatusServiceUnavailable))
	d := r.destination("ops")
	d.URL += "/hooks/T0KEN"
	h, err := NewHook(d)
	if err != nil {
		t.Fatal(err)
	}
	h.client["ops"].RetryWaitMin, h.client["ops"].RetryWaitMax = time.Millisecond, time.Millisecond
	busy := h.Send(t.Context(), notice, clock())
	r.Close()
	gone := h.Send(t.Context(), notice, clock())
	if busy == nil || gone == nil || strings.Contains(busy.Error()+gone.Error(), "T0KEN") || !strings.Contains(busy.Error(), "it answers 503") || !strings.Contains(gone.Error(), "connection refused") {
		t.Errorf("got %v and %v", busy, gone)
	}
}
