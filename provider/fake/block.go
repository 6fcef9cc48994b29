package fake

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Block is capacity that is paid ahead: a number of machines of one offering,
// from an instant until another. Drain before the end its machines are taken, and
// Notice before that they are warned.
type Block struct {
	Offering      provider.Offering // of the reserved market, with its reservation
	Count         int
	From, Until   time.Time
	Drain, Notice time.Duration
}

// ec2Drain and ec2Notice are when Amazon takes the machines of a capacity block,
// and when it says so.
const (
	ec2Drain  = 30 * time.Minute
	ec2Notice = 10 * time.Minute
)

// closed says why nothing is launched in the block at an instant; nil if it may be.
func (b *Block) closed(now time.Time) error {
	switch {
	case now.Before(b.From):
		return fmt.Errorf("%w: %s begins at %s", provider.ErrClosed, b.Offering.Reservation, b.From.UTC().Format(time.RFC3339))
	case !now.Before(b.taken()):
		return fmt.Errorf("%w: %s has ended or is about to", provider.ErrClosed, b.Offering.Reservation)
	}
	return nil
}

// taken is when its machines are taken.
func (b *Block) taken() time.Time { return b.Until.Add(-b.Drain) }

// openBlocks checks and opens the blocks of a Config.
func (c *Cloud) openBlocks(blocks []Block) error {
	for i := range blocks {
		b := blocks[i]
		if err := c.fitsBlock(&b); err != nil {
			return err
		}
		if err := c.open(&b); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cloud) fitsBlock(b *Block) error {
	switch {
	case b.Offering.Market != provider.Reserved || b.Offering.Reservation == "":
		return fmt.Errorf("block %s: want an offering of the reserved market, with its reservation", b.Offering)
	case b.Count <= 0 || b.Count > most:
		return fmt.Errorf("block %s: %d machines: want 1 to %d", b.Offering, b.Count, most)
	case b.Drain < 0 || b.Notice < 0 || !b.taken().After(b.From):
		return fmt.Errorf("block %s: it ends before it begins", b.Offering)
	case c.blocks[b.Offering.Reservation] != nil:
		return fmt.Errorf("block %s: the reservation is given twice", b.Offering)
	}
	for _, o := range c.sold {
		if o == b.Offering {
			return nil
		}
	}
	return fmt.Errorf("block %s: the offering is not sold here", b.Offering)
}

// open lets machines be launched in a block.
func (c *Cloud) open(b *Block) error {
	t, _ := c.cfg.Catalogue.Lookup(b.Offering.Cloud, b.Offering.Type)
	if err := c.cfg.Climate.Boot(t).validate(); err != nil {
		return fmt.Errorf("type %s: %w", b.Offering.Type, err)
	}
	c.blocks[b.Offering.Reservation] = &pool{key: b.Offering.Pool(), name: b.Offering.String(), depth: b.Count, block: b, from: b.From}
	return nil
}

// blockOpened is a block that a statement opens.
type blockOpened struct {
	of          pattern
	count       int
	from, until time.Duration
}

// blockEnded ends a block before its time.
type blockEnded struct {
	reservation string
	notice      time.Duration
}

// readBlock reads "OFFERING holds N from TIME until TIME", or "RESERVATION ends
// [notice TIME | without notice]". The times of the former are counted as the
// statement's own is.
func readBlock(l *line) (deed, pattern) {
	name := l.word("an offering or a reservation")
	if l.has("ends") {
		return &blockEnded{reservation: name, notice: l.warning()}, ""
	}
	d := &blockOpened{}
	var err error
	if d.of, err = parsePattern(name); err != nil && l.err == nil {
		l.err = err
	}
	l.need("holds")
	d.count = l.count("the machines that it holds")
	l.need("from")
	d.from = l.duration("its beginning", false)
	l.need("until")
	d.until = l.duration("its end", false)
	return d, d.of
}

func (d *blockOpened) block(c *Cloud, at time.Time) (*Block, error) {
	o, err := d.of.one(c)
	if err != nil {
		return nil, err
	}
	b := &Block{Offering: o, Count: d.count, From: at.Add(d.from), Until: at.Add(d.until), Notice: c.cfg.Climate.Notice.Lead}
	if c.cfg.Name == "aws" {
		b.Drain, b.Notice = ec2Drain, ec2Notice
	}
	return b, nil
}

func (d *blockOpened) fits(c *Cloud) error {
	b, err := d.block(c, c.now)
	if err != nil {
		return err
	}
	return c.fitsBlock(b)
}

func (d *blockOpened) begin(c *Cloud, at time.Time) {
	if b, err := d.block(c, at); err == nil && c.fitsBlock(b) == nil {
		_ = c.open(b) // fits has looked
	}
}

// fits does not look for the block: an earlier statement may open it.
func (d *blockEnded) fits(*Cloud) error { return nil }

func (d *blockEnded) begin(c *Cloud, at time.Time) {
	c.at(at.Add(-c.leadOf(d.notice)), func(c *Cloud) {
		if p := c.blocks[d.reservation]; p != nil {
			(&take{target: target{n: -1, pool: p}, notice: d.notice}).begin(c, at)
		}
	})
	c.at(at, func(c *Cloud) {
		if p := c.blocks[d.reservation]; p != nil {
			ended := *p.block
			ended.Until, ended.Drain = at, 0
			p.block = &ended
		}
	})
}
