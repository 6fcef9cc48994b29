package document

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/planner/throughput"
)

// curve finds or makes the speeds of the job, and what they are known by.
func (d Document) curve(sold Sold) (c planner.Curve, family string, err error) {
	if s := d.TrainingJob.Spec; s.Profile != (Profile{}) {
		if c, family, err = d.elastic(sold); err != nil {
			return nil, "", err
		}
		if s.Family != "" {
			family = s.Family
		}
		return c, family, nil
	}
	p, family, err := d.rigid()
	if err != nil {
		return nil, "", err
	}
	return planner.TableCurve(p), family, nil
}

// elastic reads the profile of the job, from its file or as it stands.
func (d Document) elastic(sold Sold) (c planner.Curve, family string, err error) {
	spec := d.TrainingJob.Spec
	var p *goodput.Profile
	if spec.Profile.Inline != nil {
		p, err = d.readProfile("spec.profile.inline", *spec.Profile.Inline)
	} else {
		p, err = d.profileFile(spec.Profile.File, sold.ReadFile)
	}
	if err != nil {
		return nil, "", err
	}
	least := spec.Resources.Replicas.planner().Sizes()[0]
	c, err = planner.GoodputCurve(p, planner.Growth{Bought: true, MinReplicas: least})
	if err != nil {
		return nil, "", d.Fail("spec.profile", "%v", err)
	}
	return c, p.Name, nil
}

// readProfile makes a profile of a document of that kind, which stands at a path.
func (d Document) readProfile(path string, form goodput.ProfileDocument) (*goodput.Profile, error) {
	p, err := form.Parse()
	var bad *goodput.InputError
	if errors.As(err, &bad) {
		return nil, d.Fail(strings.Trim(path+"."+bad.Field, "."), "%s", bad.Reason)
	}
	if err != nil {
		return nil, d.Fail(path, "%v", err)
	}
	return p, nil
}

// profileFile reads a profile from a file of its own. What is wrong in it is an
// error of that file.
func (d Document) profileFile(name string, read func(string) ([]byte, error)) (*goodput.Profile, error) {
	if read == nil {
		return nil, d.Fail("spec.profile.file", "files cannot be read from here: give the profile inline")
	}
	text, err := read(name)
	if err != nil {
		return nil, d.Fail("spec.profile.file", "%v", err)
	}
	docs, err := Decode(name, text)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 || docs[0].Profile == nil {
		return nil, docs[0].Fail("kind", "want one document of kind Profile here")
	}
	return docs[0].Profile, nil
}

// rigid finds or makes the throughputs of the job, and what they are known by.
func (d Document) rigid() (p throughput.Profile, family string, err error) {
	t := d.TrainingJob.Spec.Throughput
	family = t.Model
	if t.Estimate != nil {
		family = t.Estimate.Class
	}
	if d.TrainingJob.Spec.Family != "" {
		family = d.TrainingJob.Spec.Family
	}
	if t.Model != "" {
		table, err := throughput.Gavel()
		if err != nil {
			return p, "", err
		}
		p, ok := table.Profile(t.Model)
		if !ok {
			return p, "", d.Fail("spec.throughput.model", "no measurements of %q%s", t.Model, didYouMean(t.Model, table.Names()))
		}
		return p, family, nil
	}
	cfg := throughput.ProfileConfig{Name: family, Entries: t.Table}
	if cfg.Name == "" {
		cfg.Name = d.TrainingJob.Metadata.Name
	}
	if t.Estimate != nil {
		if cfg.Roofline, err = t.Estimate.roofline(); err != nil {
			return p, "", d.Fail("spec.throughput.estimate.class", "%v%s", err, didYouMean(t.Estimate.Class, throughput.ClassNames()))
		}
	}
	p, err = throughput.NewProfile(cfg)
	var bad *throughput.EntryError
	if errors.As(err, &bad) {
		return p, "", d.Fail(fmt.Sprintf("spec.throughput.table[%d].%s", bad.Index, bad.Field), "%s", bad.Reason)
	}
	if err != nil {
		return p, "", d.Fail("spec.throughput", "%v", err)
	}
	return p, family, nil
}

// roofline is the estimate of the class, at the batch asked for.
func (e Estimate) roofline() (*throughput.Roofline, error) {
	if !slices.Contains(throughput.ClassNames(), e.Class) {
		return nil, fmt.Errorf("unknown class %q", e.Class)
	}
	class, err := throughput.ClassNamed(e.Class)
	if err != nil {
		return nil, err
	}
	if e.Batch > 0 {
		class.Batch = e.Batch
	}
	return throughput.NewRoofline(class)
}

// speed writes a curve down, and returns the family that a job has by it.
func (s *JobSpec) speed(c planner.Curve) (family string, err error) {
	if p, ok := planner.GoodputProfileOf(c); ok {
		form, err := p.Document()
		s.Profile.Inline = &form
		return p.Name, err
	}
	profile, ok := planner.ProfileOf(c)
	if !ok {
		return "", errors.New("its speeds are no table, no estimate and no profile")
	}
	if s.Throughput, err = throughputOf(profile); err != nil {
		return "", err
	}
	if s.Throughput.Estimate != nil {
		return s.Throughput.Estimate.Class, nil
	}
	return s.Throughput.Model, nil
}

// throughputOf is the written form of a profile: its name alone if it is one of
// the embedded measurements.
func throughputOf(p throughput.Profile) (Throughput, error) {
	table, err := throughput.Gavel()
	if err != nil {
		return Throughput{}, err
	}
	roofline, estimated := p.Roofline()
	if measured, ok := table.Profile(p.Name()); ok && !estimated && slices.Equal(measured.Entries(), p.Entries()) {
		return Throughput{Model: p.Name()}, nil
	}
	t := Throughput{Table: p.Entries()}
	if !estimated {
		return t, nil
	}
	class := roofline.Class()
	builtIn, err := throughput.ClassNamed(class.Name)
	if err != nil {
		return Throughput{}, err
	}
	t.Estimate = &Estimate{Class: class.Name}
	if class.Batch != builtIn.Batch {
		t.Estimate.Batch, builtIn.Batch = class.Batch, class.Batch
	}
	if !reflect.DeepEqual(class, builtIn) {
		return Throughput{}, fmt.Errorf("model class %q is not the built-in one of that name", class.Name)
	}
	return t, nil
}
