package config

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/environ"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/share"
)

// Bridge holds the settings in the file of a bridge.
type Bridge struct {
	Feed       string // at-once or just-in-time
	Groups     []BridgeGroup
	Above      []string // priority groups, the highest first
	Benefit    BridgeBenefit
	HalfLife   time.Duration
	Window     time.Duration
	Charge     string // start or submission
	KeepFailed bool
	Levels     []int64
	Level      int64
	Estimate   time.Duration
	Slots      int64
	Resources  map[string]int64
	Poll       time.Duration
	Lease      time.Duration
	Batch      int
	Options    BridgeOptions

	// Problems holds the warnings.
	Problems Problems

	given map[string]bool // fields that the file gives
}

// BridgeOptions maps the names of the given settings of a kind of bridge to their values.
type BridgeOptions map[string]string

// BridgeBenefit is a benefit function with its parameters.
type BridgeBenefit struct {
	Function string
	Amount   float64
	Weights  map[string]float64
	Groups   map[string]float64
}

// BridgeOption is a setting of one kind of bridge.
type BridgeOption struct {
	Name    string
	Default string
	Doc     string // one sentence
	Must    bool   // required, here or by the flag of the same name
}

// The feeds and charges of bridges.
const (
	FeedAtOnce, FeedJustInTime    = "at-once", "just-in-time"
	ChargeStart, ChargeSubmission = "start", "submission"
)

var benefitTable = &table{name: "benefit", doc: "What a job adds to the usage of its group.", fields: []field{
	of("function", "cpu_time", "cpu_time, resources (held for a time, by weights), processes, work (units of "+environ.Work+" in the job's environment) or fixed (the same for all).",
		choice("benefit function", frontback.Builtin().Names(),
			frontback.Builtin().Names()), func(b *BridgeBenefit) *string { return &b.Function }),
	of("amount", "1", "The benefit of one unit. The unit is a second, a process, a unit of work or a job, as "+
		"the function says.", weight(share.CheckWeight),
		func(b *BridgeBenefit) *float64 { return &b.Amount }),
	of("weights", "{}", "For the function resources: the benefit of one unit of each resource, held for a second.",
		parts("resources with weights", checkResource), func(b *BridgeBenefit) *map[string]float64 { return &b.Weights }),
	of("groups", "{}", "Multiplies the benefit of a group's jobs.", parts("groups with factors", checkWord("group")),
		func(b *BridgeBenefit) *map[string]float64 { return &b.Groups }),
}}

// bridgeFields returns the fields of the file. The argument "options" is the table of the settings of the kind of
// bridge.
func bridgeFields(options *table) []field {
	fields := []field{
		of("feed", FeedAtOnce, "at-once submits all jobs at once, to the front or the back by their groups. just-in-time holds jobs back and submits one when a slot becomes free, in the order of the server.",
			choice("feed", []string{FeedAtOnce, FeedJustInTime},
				[]string{FeedAtOnce, FeedJustInTime}), func(b *Bridge) *string { return &b.Feed }),
		of("groups", "{}", "The fair-share groups, by name. Jobs that belong to no group go to the back.", groups,
			func(b *Bridge) *[]BridgeGroup { return &b.Groups }),
		of("above", "[]", "The priority groups, the highest first: their jobs go before those of all fair-share "+
			"groups. Each uses the pool of the same name.",
			groupNames, func(b *Bridge) *[]string { return &b.Above }),
		of("benefit", "{}", "The benefit that the groups divide.", sub[BridgeBenefit](&benefitTable),
			func(b *Bridge) *BridgeBenefit { return &b.Benefit }),
		of("half_life", "7d", "The time after which received benefit counts half. 0 or none: benefit "+
			"counts forever, or for the window.",
			span(time.Second, "none"), func(b *Bridge) *time.Duration { return &b.HalfLife }),
		unless("none", of("window", "", "The time for which received benefit counts, instead of "+
			"a half-life.",
			span(time.Second, "none"), func(b *Bridge) *time.Duration { return &b.Window })),
		of("charge", ChargeStart, "When a job at the back counts: at its start, so that the bridge divides received benefit,"+
			" or at its submission, as in the source document.",
			choice("charge", []string{ChargeStart, ChargeSubmission},
				[]string{ChargeStart, ChargeSubmission}), func(b *Bridge) *string { return &b.Charge }),
		of("keep_failed", "false", "Count the benefit of failed jobs. Otherwise a failure returns the benefit.", boolean,
			func(b *Bridge) *bool { return &b.KeepFailed }),
		unless("levels that suit the queueing system",
			of("levels", "", "The priorities in the queueing system, in this order: back, front, then the "+
				"priority groups, the lowest first.",
				levels, func(b *Bridge) *[]int64 { return &b.Levels })),
		unless("the priority of the front", of("level", "", "The priority of all jobs that are fed just in time.",
			wholeNumber(-maxTasks, maxTasks), func(b *Bridge) *int64 { return &b.Level })),
		of("estimate", "1h", "The expected run time of a job without a time limit.", span(time.Second, ""),
			func(b *Bridge) *time.Duration { return &b.Estimate }),
		unless("1,000,000; just in time 1", of("slots", "",
			"The maximum that the queueing system holds at a time, in the unit of the server.",
			wholeNumber(1, maxTasks), func(b *Bridge) *int64 { return &b.Slots })),
		of("resources", "{}", "Further resources that jobs may ask for, with the amounts that the queueing system "+
			"holds at a time. Processors, memory and GPUs are unlimited unless they are named.",
			amounts, func(b *Bridge) *map[string]int64 { return &b.Resources }),
		of("poll", "1s", "The shortest interval at which the bridge asks the queueing system for the states of jobs.",
			span(10*time.Millisecond, ""), func(b *Bridge) *time.Duration { return &b.Poll }),
		of("lease", "1d", "How long the server leaves tasks with a bridge that is silent.",
			span(time.Minute, ""), func(b *Bridge) *time.Duration { return &b.Lease }),
		of("batch", "200", "The maximum number of jobs in one submission.", whole(1, 10_000),
			func(b *Bridge) *int { return &b.Batch }),
	}
	return append(fields, of("options", "{}", "Settings of this kind of bridge; each is also a flag.",
		sub[BridgeOptions](&options), func(b *Bridge) *BridgeOptions { return &b.Options }))
}

// ParseBridge parses the file of a bridge whose kind has these options. The error is a [Problems], with name as its
// file.
func ParseBridge(name string, text []byte, options []BridgeOption) (*Bridge, error) {
	clean, problem := prepare(text)
	var root *node
	if problem == nil {
		root, problem = readYAML(clean)
	}
	if problem != nil {
		return nil, Problems{*problem}.finish(name, clean)
	}
	r := &reader{}
	b := &Bridge{given: map[string]bool{}}
	if root.kind == scalar {
		r.errorf(root, "%s", noName(root))
	} else {
		(&table{fields: bridgeFields(optionTable(options))}).read(r, "the file", root, b)
		for _, k := range root.keys {
			b.given[k.text] = true
		}
		r.checkBridge(root, b)
	}
	found := r.problems(name, clean)
	if errors, _ := found.count(); errors > 0 {
		return nil, found
	}
	b.Problems = found
	return b, nil
}

// LoadBridge reads and parses the file of a bridge.
func LoadBridge(path string, options []BridgeOption) (*Bridge, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return ParseBridge(path, text, options)
}

// Given reports whether the file sets a field.
func (b *Bridge) Given(field string) bool { return b.given[field] }

// checkBridge reports settings that contradict each other or have no effect.
func (r *reader) checkBridge(root *node, b *Bridge) {
	if root.get("window") != nil && b.Window > 0 {
		if root.get("half_life") != nil && b.HalfLife > 0 {
			r.errorf(root.key("window"), "both a window and a half_life: choose one")
		}
		b.HalfLife = 0
	}
	seen := map[string]bool{}
	for _, g := range b.Groups {
		seen[g.Name] = true
	}
	for _, name := range b.Above {
		if seen[name] {
			r.errorf(root.get("above"), "%s is also a fair-share group; a group can be only one of the two", clip(name))
		}
	}
	if want := 2 + len(b.Above); len(b.Levels) > 0 && len(b.Levels) != want {
		r.errorf(root.get("levels"), "levels has %d %s, but needs %d: one for the back, one for the front, and "+
			"one for each group in above (%d)", len(b.Levels), units.OneOf(len(b.Levels), "entry", "entries"), want,
			len(b.Above))
	}
	if b.Feed == FeedJustInTime {
		for _, name := range []string{"groups", "above", "benefit", "half_life", "window", "charge", "keep_failed", "levels",
			"estimate"} {
			if root.get(name) != nil {
				r.warnf(root.key(name), "%s has no effect: jobs are fed just in time, in the order of the server", name)
			}
		}
	}
	if b.Benefit.Function == "resources" && len(b.Benefit.Weights) == 0 {
		r.errorf(root.get("benefit"), "the function resources needs weights: the benefit of one unit of each resource, such as {cpu: 1, gpu: 10}")
	}
}

// optionTable makes the table of the options of a kind of bridge.
func optionTable(options []BridgeOption) *table {
	t := &table{name: "options", doc: "Settings of the kind of bridge."}
	for _, o := range options {
		text := line("text", 4096, anyText)
		t.fields = append(t.fields, field{name: o.Name, doc: o.Doc, word: text.word, schema: text.schema,
			read: func(r *reader, n *node, to any) {
				v, ok := text.read(r, o.Name, n)
				if all := to.(*BridgeOptions); ok && *all == nil {
					*all = BridgeOptions{o.Name: v}
				} else if ok {
					(*all)[o.Name] = v
				}
			}})
	}
	return t
}

// BridgeReference returns a page in Markdown about the fields of the file, without the options of a kind.
func BridgeReference() string {
	var b strings.Builder
	file := &table{doc: "The top level of the file. All fields are optional.", fields: bridgeFields(optionTable(nil))}
	for _, t := range []*table{file, groupTable, benefitTable} {
		t.reference(&b)
	}
	return b.String()
}

// Over sets fields of s to the values that the file of b gives: feed, half_life, slots, above and groups.
func (b *Bridge) Over(s *Bridge) {
	put := func(field string, f func()) {
		if b.given[field] {
			f()
			s.given[field] = true
		}
	}
	put("feed", func() { s.Feed = b.Feed })
	put("half_life", func() { s.HalfLife, s.Window = b.HalfLife, 0 })
	put("slots", func() { s.Slots = b.Slots })
	put("above", func() { s.Above = b.Above })
	put("groups", func() { s.Groups = b.Groups })
}
