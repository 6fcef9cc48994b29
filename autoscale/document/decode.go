package document

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/planner/numeral"
)

// Document is one document of a file: as a value, and with its places.
type Document struct {
	TrainingJob  *TrainingJob // one of the six is not nil
	BudgetPolicy *BudgetPolicy
	Config       *Config
	Fleet        *Fleet
	Sweep        *Sweep
	Profile      *goodput.Profile

	file string
	root *node
}

// Decode reads every document of a file: YAML or JSON, several separated by
// "---", or one list of them. file is its name in errors. An error is an *Error:
// the first thing in the file that cannot be used.
func Decode(file string, data []byte) ([]Document, error) {
	roots, err := readTree(file, data)
	if err != nil {
		return nil, err
	}
	var docs []Document
	for _, root := range roots {
		list := []*node{root}
		if root.shape == listShape {
			list = root.items
		}
		for _, n := range list {
			doc, err := decodeOne(file, n)
			if err != nil {
				return nil, err
			}
			docs = append(docs, doc)
		}
	}
	if len(docs) == 0 {
		return nil, &Error{File: file, Line: 1, Column: 1, Reason: holdsNone(roots)}
	}
	return docs, nil
}

// holdsNone says what a file has in place of documents.
func holdsNone(roots []*node) string {
	if len(roots) > 0 {
		return "is an empty list: want documents, each a mapping with apiVersion, kind, metadata and spec"
	}
	return "holds no document"
}

func decodeOne(file string, root *node) (Document, error) {
	name, err := kindOf(file, root)
	if err != nil {
		return Document{}, err
	}
	if err := validate(file, name, root); err != nil {
		return Document{}, err
	}
	if err := endless(file, root, ""); err != nil {
		return Document{}, err
	}
	doc := Document{file: file, root: root}
	for _, k := range kinds {
		if k.name != name {
			continue
		}
		value := k.make()
		text, err := json.Marshal(root.plain())
		if err == nil {
			err = json.Unmarshal(text, value)
		}
		if err != nil {
			return Document{}, &Error{File: file, Line: root.line, Column: root.column, Reason: err.Error()}
		}
		switch v := value.(type) {
		case *TrainingJob:
			doc.TrainingJob = v
			return doc, doc.checkJob()
		case *BudgetPolicy:
			doc.BudgetPolicy = v
			_, err := doc.policy()
			return doc, err
		case *Config:
			doc.Config = v
			return doc, doc.checkConfig()
		case *Fleet:
			doc.Fleet = v
			return doc, doc.checkFleet()
		case *Sweep:
			doc.Sweep = v
			return doc, doc.checkSweep()
		case *goodput.ProfileDocument:
			doc.Profile, err = doc.readProfile("", *v)
			return doc, err
		}
	}
	return Document{}, fmt.Errorf("kind %s has no Go type", name)
}

// endless finds a number that no float holds, where a schema sets no bound: 1e400, 1e-400.
func endless(file string, n *node, path string) error {
	if text, ok := n.value.(json.Number); ok {
		if _, err := numeral.Parse(text.String()); err != nil {
			return &Error{File: file, Line: n.line, Column: n.column, Path: path, Reason: text.String() + ": " + err.Error()}
		}
	}
	for _, f := range n.fields {
		if err := endless(file, f.node, strings.TrimPrefix(path+"."+f.name, ".")); err != nil {
			return err
		}
	}
	for i, item := range n.items {
		if err := endless(file, item, path+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
	}
	return nil
}

// kindOf reads the two fields that every document begins with.
func kindOf(file string, root *node) (string, error) {
	refuse := func(at *node, path, reason string) (string, error) {
		return "", &Error{File: file, Line: at.line, Column: at.column, Path: path, Reason: reason}
	}
	if root.shape != mappingShape {
		return refuse(root, "", fmt.Sprintf("want a document with apiVersion and kind, got %s", root.text()))
	}
	version, kind := root.get("apiVersion"), root.get("kind")
	switch {
	case version == nil:
		for _, f := range root.fields {
			if meant, ok := Nearest(f.name, []string{"apiVersion"}); ok {
				return "", &Error{File: file, Line: f.line, Column: f.column, Path: join("", f.name), Reason: fmt.Sprintf("unknown key; did you mean %q?", meant)}
			}
		}
		return refuse(root, "apiVersion", "is required: "+APIVersion)
	case version.node.value != any(APIVersion):
		return refuse(version.node, "apiVersion", fmt.Sprintf("%s: want %s", version.node.text(), APIVersion))
	case kind == nil:
		return refuse(root, "kind", "is required"+didYouMean("", Kinds()))
	}
	name, ok := kind.node.value.(string)
	if !ok {
		return refuse(kind.node, "kind", kind.node.text()+" is no kind"+didYouMean("", Kinds()))
	}
	if _, ok := Schema(name); !ok {
		return refuse(kind.node, "kind", fmt.Sprintf("unknown kind %q", name)+didYouMean(name, Kinds()))
	}
	return name, nil
}

// Fail is an error at a field of the document, such as "spec.burnCap" or
// "spec.regions[1]": at its place if it is there, else where the document begins.
func (d Document) Fail(path, format string, args ...any) error {
	at, _ := d.root.find(steps(path))
	return &Error{File: d.file, Line: at.line, Column: at.column, Path: path, Reason: fmt.Sprintf(format, args...)}
}

// Place tells where a field of the document is. ok is false when it is absent.
func (d Document) Place(path string) (line int, ok bool) {
	at, found := d.root.find(steps(path))
	return at.line, found == path
}

// steps splits a path into what find takes.
func steps(path string) []string {
	var list []string
	word := ""
	for _, r := range path + "." {
		switch r {
		case '.', '[', ']':
			if word != "" {
				list = append(list, word)
			}
			word = ""
		default:
			word += string(r)
		}
	}
	return list
}

// checkJob refuses what a schema cannot express: fields that do not go together.
func (d Document) checkJob() error {
	spec := d.TrainingJob.Spec
	work := spec.Work
	known := work.Samples > 0 || work.Epochs > 0
	switch {
	case work.Samples > 0 && work.Epochs > 0:
		return d.Fail("spec.work.epochs", "samples are given too: want one of the two")
	case !known && work.Kind != workUnknown:
		return d.Fail("spec.work", "want samples, or epochs and datasetSamples, or kind: unknown")
	case known && work.Kind == workUnknown:
		return d.Fail("spec.work.kind", "unknown work has no samples and no epochs")
	}
	r := spec.Resources.Replicas
	switch {
	case len(r.Set) == 0 && r.Max < r.Min:
		return d.Fail("spec.resources.replicas.max", "%d: want at least min, %d", r.Max, r.Min)
	case len(r.Set) == 0 && len(r.planner().Sizes()) == 0:
		return d.Fail("spec.resources.replicas.multipleOf", "%d: no multiple lies from min, %d, to max, %d", r.MultipleOf, r.Min, r.Max)
	}
	for i := 1; i < len(r.Set); i++ {
		if r.Set[i] <= r.Set[i-1] {
			return d.Fail(fmt.Sprintf("spec.resources.replicas[%d]", i), "%d: want ascending sizes", r.Set[i])
		}
	}
	if !spec.Deadline.IsZero() && !spec.Submit.IsZero() && !spec.Deadline.After(spec.Submit) {
		return d.Fail("spec.deadline", "%s is not after submit, %s", spec.Deadline.Format(time.RFC3339), spec.Submit.Format(time.RFC3339))
	}
	return nil
}

// checkConfig refuses settings that a schema cannot express.
func (d Document) checkConfig() error {
	spec := d.Config.Spec
	if spec.Round == 0 {
		if _, given := d.Place("spec.round"); given {
			return d.Fail("spec.round", "want more than 0")
		}
	}
	if err := d.checkTeams(); err != nil {
		return err
	}
	if err := d.checkLimits(); err != nil {
		return err
	}
	if err := d.checkDestinations(); err != nil {
		return err
	}
	if err := d.checkBilling(); err != nil {
		return err
	}
	return d.checkWindows()
}

// Sold is what there is to name in a job: each list may be nil, for a name that
// is not checked.
type Sold struct {
	Accelerators, Clouds, Regions []string
	RegionsOf                     map[string][]string // regions of each cloud

	// ReadFile reads a profile that a job names by its file; nil: jobs may not name
	// files, as when they come from elsewhere.
	ReadFile func(name string) ([]byte, error)
}

// Jobs reads a file of TrainingJobs as the planner knows them, in the order of the
// file. It refuses a name that is given twice, and names of things that are not
// sold.
func Jobs(file string, data []byte, sold Sold) ([]*planner.Job, error) {
	docs, err := Decode(file, data)
	if err != nil {
		return nil, err
	}
	jobs := make([]*planner.Job, 0, len(docs))
	seen := map[string]int{}
	for _, d := range docs {
		if d.TrainingJob == nil {
			return nil, d.Fail("kind", "want TrainingJob here")
		}
		name := d.TrainingJob.Metadata.Name
		if line, twice := seen[name]; twice {
			return nil, d.Fail("metadata.name", "%q is given twice, first in line %d", name, line)
		}
		line, _ := d.Place("metadata.name")
		seen[name] = line
		if err := d.checkSold(sold); err != nil {
			return nil, err
		}
		job, err := d.job(sold)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// checkSold refuses names of things that are not sold.
func (d Document) checkSold(sold Sold) error {
	spec := d.TrainingJob.Spec
	type use struct{ path, what, name string }
	check := func(known []string, uses ...use) error {
		if known == nil {
			return nil
		}
		for _, u := range uses {
			if u.name != "" && !contains(known, u.name) {
				return d.Fail(u.path, "unknown %s %q%s", u.what, u.name, didYouMean(u.name, known))
			}
		}
		return nil
	}
	var accelerators, clouds, regions []use
	for i, name := range spec.Resources.Accelerators {
		accelerators = append(accelerators, use{fmt.Sprintf("spec.resources.accelerators[%d]", i), "accelerator", name})
	}
	for i, e := range spec.Throughput.Table {
		accelerators = append(accelerators, use{fmt.Sprintf("spec.throughput.table[%d].accelerator", i), "accelerator", e.Accelerator})
	}
	clouds = append(clouds, use{"spec.data.cloud", "cloud", spec.Data.Cloud})
	for i, name := range spec.Clouds {
		clouds = append(clouds, use{fmt.Sprintf("spec.clouds[%d]", i), "cloud", name})
	}
	regions = append(regions, use{"spec.data.region", "region", spec.Data.Region})
	for i, name := range spec.Regions {
		regions = append(regions, use{fmt.Sprintf("spec.regions[%d]", i), "region", name})
	}
	if err := check(sold.Accelerators, accelerators...); err != nil {
		return err
	}
	if err := check(sold.Clouds, clouds...); err != nil {
		return err
	}
	if err := check(sold.Regions, regions...); err != nil {
		return err
	}
	if of := sold.RegionsOf[spec.Data.Cloud]; of != nil && spec.Data.Region != "" && !contains(of, spec.Data.Region) {
		return d.Fail("spec.data.region", "%s is no region of %s, which data.cloud says", spec.Data.Region, spec.Data.Cloud)
	}
	return nil
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}
