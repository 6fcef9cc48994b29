package budget

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Destination is where notices are sent: named by whoever runs goodfleet, and by no
// policy.
type Destination struct {
	Name         string
	URL          string // https alone
	Secret       []byte // of the signature; must not be empty
	AllowPrivate bool   // addresses that are not of the public internet too

	Roots *x509.CertPool // that its certificate is checked by; nil: the system's
}

// Headers of what is sent.
const (
	HeaderID        = "Goodfleet-Id"        // the same when it is sent again
	HeaderTime      = "Goodfleet-Time"      // seconds since 1970, in the signature
	HeaderSignature = "Goodfleet-Signature" // "sha256=" and the HMAC of time, ".", body
)

const (
	hookTries   = 4
	hookTimeout = 10 * time.Second
	hookAnswer  = 4 << 10 // bytes of an answer that are read
)

// CheckURL reports why a destination may not be called, as far as its text tells.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		return fmt.Errorf("%q is no URL", text)
	case u.Scheme != "https":
		return fmt.Errorf("%q: want https", text)
	case u.User != nil:
		return fmt.Errorf("a URL with a user in it: the secret is a file of its own")
	case u.Fragment != "":
		return fmt.Errorf("%q: a fragment is not sent", text)
	case u.Hostname() == "":
		return fmt.Errorf("%q names no host", text)
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("%q: port %q: want 1 to 65535", text, port)
		}
	}
	return nil
}

// errForbidden is wrapped by the refusal of an address.
var errForbidden = errors.New("is not of the public internet")

// public reports whether an address may be called. What stands for another address in
// it (an IPv4 address in IPv6, NAT64, 6to4) is judged by that.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if b := a.As16(); a.Is6() {
		switch {
		case netip.MustParsePrefix("64:ff9b::/96").Contains(a):
			return public(netip.AddrFrom4([4]byte(b[12:])))
		case netip.MustParsePrefix("2002::/16").Contains(a):
			return public(netip.AddrFrom4([4]byte(b[2:6])))
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// special are the ranges of the registries of RFC 6890 that are global unicast in form
// and not reachable from everywhere.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"),
}

// guardDial refuses an address when it is dialled: after its name was resolved, so that
// a name that resolves to something else the second time does not help.
func guardDial(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	if !public(at.Addr()) {
		return fmt.Errorf("%s %w", at.Addr(), errForbidden)
	}
	return nil
}

// Hook sends notices to destinations by their names.
type Hook struct {
	to     map[string]Destination
	client map[string]*retryablehttp.Client
}

// NewHook makes a hook. It refuses a destination without a name of its own, a secret or
// a URL that may be called.
func NewHook(list ...Destination) (*Hook, error) {
	h := &Hook{to: map[string]Destination{}, client: map[string]*retryablehttp.Client{}}
	for _, d := range list {
		if _, twice := h.to[d.Name]; twice || d.Name == "" {
			return nil, fmt.Errorf("destination %q: want a name of its own", d.Name)
		}
		if len(d.Secret) == 0 {
			return nil, fmt.Errorf("destination %s: it has no secret", d.Name)
		}
		if err := CheckURL(d.URL); err != nil {
			return nil, fmt.Errorf("destination %s: %w", d.Name, err)
		}
		h.to[d.Name], h.client[d.Name] = d, d.client()
	}
	return h, nil
}

// client calls one destination: with deadlines, without redirects and without a proxy,
// whose address would be judged in place of the destination's.
func (d Destination) client() *retryablehttp.Client {
	dialer := &net.Dialer{Timeout: hookTimeout}
	if !d.AllowPrivate {
		dialer.Control = guardDial
	}
	transport := &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: hookTimeout, TLSClientConfig: &tls.Config{RootCAs: d.Roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true, ForceAttemptHTTP2: true,
	}
	c := retryablehttp.NewClient()
	c.Logger = nil
	c.ErrorHandler = retryablehttp.PassthroughErrorHandler // the last answer says more than that it was the last
	c.RetryMax, c.RetryWaitMin, c.RetryWaitMax = hookTries-1, time.Second, 30*time.Second
	c.Backoff = func(least, most time.Duration, try int, res *http.Response) time.Duration {
		return min(retryablehttp.DefaultBackoff(least, most, try, res), most) // whatever its Retry-After says
	}
	c.HTTPClient = &http.Client{Transport: transport, Timeout: hookTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.CheckRetry = func(ctx context.Context, res *http.Response, err error) (bool, error) {
		if errors.Is(err, errForbidden) {
			return false, err // it would be no other when asked again
		}
		return retryablehttp.DefaultRetryPolicy(ctx, res, err)
	}
	return c
}

// Send tells a destination. It may block for minutes, and runs beside the loop. now is
// in the signature. Anything but an answer of 200 to 299 is an error; a redirect is one.
func (h *Hook) Send(ctx context.Context, n Notice, now time.Time) error {
	d, ok := h.to[n.To]
	if !ok {
		return fmt.Errorf("notice of %s: there is no destination %q", n.Policy, n.To)
	}
	body, err := json.Marshal(struct {
		ID string `json:"id"`
		Notice
	}{n.ID(), n})
	if err != nil {
		return fmt.Errorf("notice of %s: %w", n.Policy, err)
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("notice to %s: %w", d.Name, err)
	}
	at := strconv.FormatInt(now.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(HeaderID, n.ID())
	req.Header.Set(HeaderTime, at)
	req.Header.Set(HeaderSignature, Sign(d.Secret, at, body))
	res, err := h.client[d.Name].Do(req)
	if err != nil {
		if of := (*url.Error)(nil); errors.As(err, &of) {
			err = of.Err // without the URL: some hold a key
		}
		return fmt.Errorf("notice to %s: %w", d.Name, err)
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("notice to %s: %w", d.Name, &answerError{res.StatusCode, res.Status})
	}
	if _, err = io.Copy(io.Discard, io.LimitReader(res.Body, hookAnswer)); err != nil {
		return fmt.Errorf("notice to %s: its answer: %w", d.Name, err)
	}
	return nil
}

// answerError is an answer that takes no notice.
type answerError struct {
	code   int
	status string
}

func (e *answerError) Error() string { return "it answers " + e.status }

// ofOne reports whether an error is about one notice alone: others may be taken.
func ofOne(err error) bool {
	var a *answerError
	return errors.As(err, &a) && (a.code == http.StatusBadRequest || a.code == http.StatusConflict || a.code == http.StatusRequestEntityTooLarge || a.code == http.StatusUnprocessableEntity)
}

// Deliver sends what of the notices the file does not have, and puts each into it as soon as
// it is taken. A destination that cannot be reached is tried with one notice; the others are
// sent theirs. What was not sent is one error, and not in the file: it is due again. clock
// tells the time of signatures. done are the notices that were taken, in their order.
func (h *Hook) Deliver(ctx context.Context, sent *Sent, due []Notice, clock func() time.Time) (done []Notice, err error) {
	down := map[string]bool{}
	left := 0
	var why error
	for _, n := range due {
		switch {
		case sent.Has(n):
			continue
		case down[n.To] || ctx.Err() != nil:
			left++
			continue
		}
		if err := h.Send(ctx, n, clock()); err != nil {
			left++
			down[n.To] = !ofOne(err)
			if why == nil {
				why = err
			} else {
				why = fmt.Errorf("%w; %w", why, err)
			}
			continue
		}
		if err := sent.add(n, clock()); err != nil {
			return done, fmt.Errorf("a notice to %s was sent and cannot be noted, so that it will be sent again under its id %s: %w", n.To, n.ID(), err)
		}
		done = append(done, n)
	}
	if left > 0 {
		if why == nil {
			why = ctx.Err()
		}
		return done, fmt.Errorf("%d of %d notices are not sent, and due again: %w", left, left+len(done), why)
	}
	return done, nil
}

// Sign is the signature of what is sent at a time.
func Sign(secret []byte, at string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(at + "."))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
