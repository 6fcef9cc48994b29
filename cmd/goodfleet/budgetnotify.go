package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

// notifyFlags say whether destinations are told, and where it is kept of what they were.
type notifyFlags struct {
	send bool
	dry  bool
	sent string // file; "": beside the ledger
}

func (f *notifyFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.send, "notify", false, "send what is due to the destinations that policies name, each notice once")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "with --notify: check all that sending needs, and send nothing")
	cmd.Flags().StringVar(&f.sent, "sent", "", "file of the notices that were sent (default the ledger's name and "+sentEnding+")")
}

// sentEnding makes of the name of a ledger that of the file of notices that were sent of it.
const sentEnding = ".notices"

// noticed is a notice as it is printed.
type noticed struct {
	ID string `json:"id"`
	To string `json:"to"`
	budget.Notice
	Sent bool `json:"sent"` // in this run; what was sent before is not listed
}

// notices finds what is due and has not been sent, and sends it if that is asked for.
func (cfg budgetConfig) notices(ctx context.Context, policies budget.Policies, all []budget.Spend, snap *autoscale.Snapshot, now time.Time) ([]noticed, error) {
	if cfg.notify.dry && !cfg.notify.send {
		return nil, errors.New("--dry-run goes with --notify: without it nothing is sent")
	}
	list := []noticed{}
	if !cfg.notify.send && !slices.ContainsFunc(policies, func(p *budget.Policy) bool { return len(p.Notify) > 0 }) {
		return list, nil
	}
	var hook *budget.Hook
	if cfg.notify.send {
		var err error
		if hook, err = cfg.settings.hook(policies); err != nil {
			return nil, err
		}
	}
	look := budget.Look{Now: now, Round: cfg.settings.round}
	if snap != nil {
		standings := budget.Standings(policies, all, now)
		tails, err := cfg.settings.tails(policies, standings, snap, now)
		if err != nil {
			return nil, err
		}
		look.Tail = func(s *budget.Standing) (tail pricing.Money) {
			for i := range standings {
				if standings[i].Policy == s.Policy && standings[i].Key == s.Key {
					tail = tails[i]
				}
			}
			return tail
		}
	}
	due := budget.Due(policies, all, look)
	if snap != nil {
		due = append(due, questionsDue(policies, snap, now)...)
	}
	sent, err := cfg.sentFile()
	if err != nil {
		return nil, err
	}
	for _, n := range due {
		twice := slices.ContainsFunc(list, func(x noticed) bool { return x.ID == n.ID() && x.To == n.To })
		if !twice && !sent.Has(n) {
			list = append(list, noticed{ID: n.ID(), To: n.To, Notice: n})
		}
	}
	if cfg.notify.send && !cfg.notify.dry {
		if _, err = hook.Deliver(ctx, sent, due, time.Now); err == nil {
			for i := range list {
				list[i].Sent = true
			}
		}
	}
	return list, errors.Join(err, sent.Close())
}

// questionsDue are the notices of questions that nobody has answered.
func questionsDue(policies budget.Policies, snap *autoscale.Snapshot, now time.Time) []budget.Notice {
	var due []budget.Notice
	for i := range snap.Questions {
		q := &snap.Questions[i]
		if v, _, _ := q.Stands(now); v != budget.Open {
			continue
		}
		for _, p := range policies {
			if p.Name == q.Policy {
				due = append(due, q.Due(p)...)
			}
		}
	}
	return due
}

// sentFile opens the file of notices that were sent: to be added to, where some are.
func (cfg budgetConfig) sentFile() (*budget.Sent, error) {
	path, open := cfg.notify.sent, budget.ReadSent
	if path == "" {
		path = cfg.settings.ledger + sentEnding
	}
	if cfg.notify.send && !cfg.notify.dry {
		open = budget.OpenSent
	}
	if cfg.notify.dry {
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil, fmt.Errorf("notices that were sent: %w", err)
		}
	}
	sent, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("notices that were sent: %w", err)
	}
	return sent, nil
}

// hook is made for the destinations that policies name. A name that the settings do not have,
// and a secret that cannot be read, is an error at its place.
func (s settings) hook(policies budget.Policies) (*budget.Hook, error) {
	var known []document.Destination
	if s.config != nil {
		known = s.config.Spec.Destinations
	}
	used := make([]bool, len(known))
	for _, p := range policies {
		for i, to := range p.Notify {
			k := slices.IndexFunc(known, func(d document.Destination) bool { return d.Name == to })
			if k < 0 {
				return nil, s.noDestination(p, i)
			}
			used[k] = true
		}
	}
	var list []budget.Destination
	for i, d := range known {
		if !used[i] {
			continue
		}
		to, err := s.destination(d, fmt.Sprintf("spec.destinations[%d]", i))
		if err != nil {
			return nil, err
		}
		list = append(list, to)
	}
	return budget.NewHook(list...)
}

// noDestination is the error about the i-th name that a policy notifies.
func (s settings) noDestination(p *budget.Policy, i int) error {
	var names []string
	if s.config != nil {
		for _, d := range s.config.Spec.Destinations {
			names = append(names, d.Name)
		}
	}
	reason := fmt.Sprintf("there is no destination %q in the settings%s", p.Notify[i], suggestion(p.Notify[i], names))
	for _, file := range s.budgets {
		data, err := readFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, bare(err))
		}
		if err := document.FailNotify(file, data, p.Name, i, reason); err != nil {
			return err
		}
	}
	return fmt.Errorf("budget policy %s: spec.notify[%d]: %s", p.Name, i, reason) // its file has changed meanwhile
}

// destination is one of the settings with its secret, which is not told in any error.
func (s settings) destination(d document.Destination, at string) (budget.Destination, error) {
	to := budget.Destination{Name: d.Name, URL: d.URL, AllowPrivate: d.AllowPrivate}
	if name := d.SecretVariable; name != "" {
		if strings.HasPrefix(name, envPrefix) {
			return to, s.configDoc.Fail(at+".secretVariable", "%s: those that begin with %s are settings: want another name", name, envPrefix)
		}
		if to.Secret = []byte(os.Getenv(name)); len(to.Secret) == 0 {
			return to, s.configDoc.Fail(at+".secretVariable", "environment %s is not set, or empty", name)
		}
	} else {
		text, err := readSmall(d.SecretFile)
		if err != nil {
			return to, s.configDoc.Fail(at+".secretFile", "%s: %v", d.SecretFile, bare(err))
		}
		if to.Secret = []byte(strings.TrimRight(string(text), "\r\n")); len(to.Secret) == 0 {
			return to, s.configDoc.Fail(at+".secretFile", "%s: is empty", d.SecretFile)
		}
	}
	if d.CAFile != "" {
		text, err := readSmall(d.CAFile)
		if err != nil {
			return to, s.configDoc.Fail(at+".caFile", "%s: %v", d.CAFile, bare(err))
		}
		to.Roots = x509.NewCertPool()
		if !to.Roots.AppendCertsFromPEM(text) {
			return to, s.configDoc.Fail(at+".caFile", "%s: holds no certificate in PEM", d.CAFile)
		}
	}
	return to, nil
}
