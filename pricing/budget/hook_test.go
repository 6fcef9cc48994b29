package budget

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

var notice = Notice{To: "ops", Policy: "vision-month", Action: NoNew, At: time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC), Text: "95 of 100 USD are spent"}

// hookTo is a hook to a server of the test, whose certificate it trusts.
func hookTo(t *testing.T, handler http.HandlerFunc) *Hook {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	h, err := NewHook(destinationOf(server))
	if err != nil {
		t.Fatal(err)
	}
	h.client["ops"].RetryWaitMin, h.client["ops"].RetryWaitMax = time.Millisecond, time.Millisecond
	return h
}

// destinationOf is a server of the test, at an address that is not of the public internet.
func destinationOf(server *httptest.Server) Destination {
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return Destination{Name: "ops", URL: server.URL, Secret: []byte("key"), AllowPrivate: true, Roots: roots}
}

func TestNoticeIsSignedAndSentAgainWithTheSameID(t *testing.T) {
	tries, ids := 0, map[string]bool{}
	h := hookTo(t, func(w http.ResponseWriter, r *http.Request) {
		tries++
		body, _ := io.ReadAll(r.Body)
		ids[r.Header.Get(HeaderID)] = true
		if got, want := r.Header.Get(HeaderSignature), Sign([]byte("key"), "1764489600", body); got != want || r.Header.Get(HeaderTime) != "1764489600" {
			t.Errorf("signature %s of time %s, want %s", got, r.Header.Get(HeaderTime), want)
		}
		if !strings.Contains(string(body), `"policy":"vision-month","action":"no-new"`) {
			t.Errorf("body %s", body)
		}
		if tries < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	if err := h.Send(context.Background(), notice, time.Unix(1764489600, 0)); err != nil {
		t.Fatal(err)
	}
	if tries != 3 || len(ids) != 1 || !ids[notice.ID()] {
		t.Errorf("%d tries with ids %v, want 3 with %s", tries, ids, notice.ID())
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	called := false
	h := hookTo(t, func(w http.ResponseWriter, r *http.Request) {
		if called = r.URL.Path == "/other"; called {
			return
		}
		http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
	})
	err := h.Send(context.Background(), notice, time.Unix(0, 0))
	if err == nil || called || !strings.Contains(err.Error(), "307") {
		t.Errorf("got %v, followed: %t", err, called)
	}
}

// A name that resolves to an address of the machine itself is refused as it is dialled,
// and called where an admin allows it.
func TestPrivateAddressIsRefusedAtTheDial(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	url := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	for _, allow := range []bool{false, true} {
		h, err := NewHook(Destination{Name: "ops", URL: url, Secret: []byte("key"), AllowPrivate: allow})
		if err != nil {
			t.Fatal(err)
		}
		h.client["ops"].RetryMax = 0
		err = h.Send(context.Background(), notice, time.Unix(0, 0))
		if errors.Is(err, errForbidden) == allow || err == nil { // allowed, it fails at the certificate
			t.Errorf("allowed %t: got %v", allow, err)
		}
		if allow && !strings.Contains(err.Error(), "certificate") {
			t.Errorf("got %v, want it to reach the server", err)
		}
	}
}

func TestAddressesOfThePublicInternet(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "0.0.0.0": false,
		"100.64.0.1": false, "198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "::1": false, "fe80::1": false, "fc00::1": false,
		"::ffff:127.0.0.1": false, "64:ff9b::a00:1": false, "64:ff9b::808:808": true, "2002:7f00:1::": false, "2001:db8::1": false,
	} {
		if got := public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: public %t, want %t", text, got, want)
		}
	}
}

func TestDestinationsThatMayNotBeCalled(t *testing.T) {
	for want, d := range map[string]Destination{
		"want https":        {Name: "a", URL: "http://example.com", Secret: []byte("k")},
		"is no URL":         {Name: "a", URL: "https:///x", Secret: []byte("k")},
		"with a user in it": {Name: "a", URL: "https://u:p@example.com", Secret: []byte("k")},
		"it has no secret":  {Name: "a", URL: "https://example.com"},
		"want a name":       {URL: "https://example.com", Secret: []byte("k")},
		"a fragment is not": {Name: "a", URL: "https://example.com/#x", Secret: []byte("k")},
	} {
		if _, err := NewHook(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", d, err, want)
		}
	}
	h, err := NewHook()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Send(context.Background(), notice, time.Unix(0, 0)); err == nil || !strings.Contains(err.Error(), `there is no destination "ops"`) {
		t.Errorf("got %v", err)
	}
}
