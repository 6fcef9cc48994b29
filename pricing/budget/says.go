package budget

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// percent is a share for people.
func percent(share float64) string {
	return strconv.FormatFloat(share*100, 'f', -1, 64) + "%"
}

// Says is what a policy says, in a few words each.
func (p *Policy) Says() []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if c := p.Cap; c != nil {
		text := fmt.Sprintf("%s USD %s", c.Amount, c.per())
		if c.Each != ForAll {
			text += " for each " + string(c.Each)
		}
		if c.Unused > 0 {
			text += ", up to " + percent(c.Unused) + " of it carried over"
		}
		if c.Overdraft {
			text += ", an overdraft is taken off the next"
		}
		add("%s", text)
	}
	if p.Burn > 0 {
		add("%s USD/h at a time", p.Burn)
	}
	if p.MaxRate > 0 {
		add("%s USD/h a machine", p.MaxRate)
	}
	if p.OfList > 0 {
		add("a machine up to %s of on-demand", percent(p.OfList))
	}
	if p.Spot != nil {
		text := fmt.Sprintf("spot from %s to %s of the burn", percent(p.Spot.Min), percent(p.Spot.Max))
		if alone := p.Spot.Alone(); alone != "" {
			text += " (" + alone + ")"
		}
		add("%s", text)
	}
	if f := p.Fallback; f != nil {
		text := fmt.Sprintf("on-demand after %v without spot", f.After)
		if f.Deadlines {
			text += ", at once for a deadline at risk"
		}
		add("%s", text)
	}
	if p.Active != nil {
		add("limits hold at %s", p.Active)
	}
	for _, s := range p.Steps {
		add("%s", s)
	}
	if a := p.Approval; a != nil {
		text := fmt.Sprintf("a launch over %s USD/h is asked for", a.Above)
		if len(a.From) > 0 {
			text += " (" + strings.Join(a.From, ", ") + ")"
		}
		add("%s", text)
	}
	for _, e := range p.Exceptions {
		add("until %s %s more (%s: %s)", e.Until.UTC().Format(time.RFC3339), e.more(), e.Owner, e.Reason)
	}
	return list
}

// per is the period with its place: "a month (America/New_York)".
func (c *Cap) per() string {
	switch c.Period {
	case Dated:
		return fmt.Sprintf("from %s to %s", c.From.UTC().Format(time.RFC3339), c.Until.UTC().Format(time.RFC3339))
	case Always:
		return "in all"
	}
	text := "a " + c.Period.String()
	if c.Period == Hour {
		text = "an hour"
	}
	if c.Zone != nil && c.Zone != time.UTC {
		text += " (" + c.Zone.String() + ")"
	}
	return text
}

func (e *Exception) more() string {
	var words []string
	if e.Add > 0 {
		words = append(words, e.Add.String()+" USD")
	}
	if e.Burn > 0 {
		words = append(words, e.Burn.String()+" USD/h")
	}
	return strings.Join(words, " and ")
}

// String is the step for people: "no-new at 95% committed".
func (s Step) String() string {
	text := fmt.Sprintf("%s at %s %s", s.Do, percent(s.At), s.Measure)
	if s.Quantile > 0 {
		text += fmt.Sprintf(" P%.0f", s.Quantile*100)
	}
	if s.Rounds > 1 {
		text += fmt.Sprintf(" for %d rounds", s.Rounds)
	}
	return text
}
