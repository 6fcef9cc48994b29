package fake

import (
	"fmt"
	"path"
	"strings"

	"github.com/goodfleet/goodfleet/provider"
)

// pattern picks offerings and pools by their names, "aws/use1-az1/p3.2xlarge/spot".
// "*" stands for any text within one part. "" is every offering.
type pattern string

func parsePattern(s string) (pattern, error) {
	if n := strings.Count(s, "/"); n != 3 && n != 4 {
		return "", fmt.Errorf("%q: want cloud/zone/type/market, or cloud/zone/type/market/reservation; * stands for any", s)
	}
	if _, err := path.Match(s, ""); err != nil {
		return "", fmt.Errorf("%q: %w", s, err)
	}
	return pattern(s), nil
}

func (p pattern) matches(o provider.Offering) bool { return p.named(o.String()) }

// named reports whether p picks the thing of that name.
func (p pattern) named(name string) bool {
	if p == "" {
		return true
	}
	ok, _ := path.Match(string(p), name)
	return ok
}

// cloud is the part of p that names clouds; "*" where p names none.
func (p pattern) cloud() string {
	cloud, _, _ := strings.Cut(string(p), "/")
	if cloud == "" {
		return "*"
	}
	return cloud
}

// sold lists the offerings that p picks, in order.
func (p pattern) sold(c *Cloud) ([]provider.Offering, error) {
	var list []provider.Offering
	for _, o := range c.sold {
		if p.matches(o) {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: nothing of that name is sold here", p)
	}
	return list, nil
}

// one is the offering that p picks, the first if several accounts have it.
func (p pattern) one(c *Cloud) (provider.Offering, error) {
	sold, err := p.sold(c)
	if err != nil {
		return provider.Offering{}, err
	}
	if last := sold[len(sold)-1]; last.String() != sold[0].String() {
		return provider.Offering{}, fmt.Errorf("%s: it names %s and %s: want one offering", p, sold[0], last)
	}
	return sold[0], nil
}

// supplies lists the pools that p picks, in the order of their offerings.
func (p pattern) supplies(c *Cloud) []*pool {
	var list []*pool
	for _, o := range c.sold {
		if s := c.supply(o); s != nil && p.matches(o) && (len(list) == 0 || list[len(list)-1] != s) {
			list = append(list, s)
		}
	}
	return list
}
