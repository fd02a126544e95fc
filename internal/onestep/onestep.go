// Package onestep runs one scheduling step on a state that somebody wrote by hand:
// it is how a user tries a policy, and how tests outside the project check one.
package onestep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// State is what there is before the step.
type State struct {
	Now      time.Time        `json:"now"`
	Seed     uint64           `json:"seed"`
	Capacity map[string]int64 `json:"capacity"` // all of it on one node
	Pools    Pools            `json:"pools"`
	// RebalanceOverSince is since when the spread of the policy load is above its threshold.
	RebalanceOverSince *time.Time `json:"rebalance_over_since"`
}

// Pools are the pools of a state, in the order in which it names them: the first is
// the oldest.
type Pools []Pool

// Pool is the state of one pool.
type Pool struct {
	Path    string      `json:"-"`
	Running int         `json:"running"`
	Waiting int         `json:"waiting"`
	Used    float64     `json:"used"`    // decayed service as of now, in slot-seconds
	Started []time.Time `json:"started"` // of the running tasks, as far as it is known
	Deficit float64     `json:"deficit"` // what it is owed under the policy deficit, in slot-seconds
	// Request is what each of its tasks takes, of those that run and those of Waiting; one
	// unit if it is empty.
	Request map[string]int64 `json:"request"`
	Jobs    []Job            `json:"jobs"` // that wait, beside those of Waiting
}

// maxTasks bounds the tasks of a state, and maxOrder how far the order is followed.
const (
	maxTasks = 10_000_000
	maxOrder = 1_000_000
)

// Read reads a state. The error says what is wrong with it, and where.
func Read(text []byte) (*State, error) {
	s := &State{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, place(text, d, err)
	}
	if d.More() {
		return nil, place(text, d, errors.New("there is more after the state"))
	}
	return s, s.check()
}

// place adds the line to an error of the decoder.
func place(text []byte, d *json.Decoder, err error) error {
	offset := d.InputOffset()
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	} else if errors.As(err, &kind) {
		offset = kind.Offset
	}
	offset = min(offset, int64(len(text)))
	line := 1 + bytes.Count(text[:offset], []byte("\n"))
	return fmt.Errorf("state, line %d: %w", line, err)
}

func (s *State) check() error {
	if s.Now.IsZero() {
		return errors.New("state: now is missing, e.g. \"now\": \"2026-01-05T08:00:00Z\"")
	}
	if len(s.Capacity) == 0 {
		return errors.New("state: capacity is missing, e.g. \"capacity\": {\"slots\": 100}")
	}
	for name, n := range s.Capacity {
		if err := share.CheckName(name); err != nil {
			return fmt.Errorf("state: capacity: %w", err)
		}
		if n < 0 {
			return fmt.Errorf("state: capacity %s must be 0 or more, got %d", name, n)
		}
	}
	total, seen := 0, map[int64]bool{}
	for i := range s.Pools {
		p := &s.Pools[i]
		if err := share.CheckPath(p.Path); err != nil {
			return fmt.Errorf("state: pool %q: %w", p.Path, err)
		}
		if p.Running < 0 || p.Waiting < 0 || p.Used < 0 || math.IsNaN(p.Used) || math.IsInf(p.Used, 0) || math.IsNaN(p.Deficit) || math.IsInf(p.Deficit, 0) {
			return fmt.Errorf("state: pool %s: running, waiting and used must be 0 or more", p.Path)
		}
		if len(p.Started) > p.Running {
			return fmt.Errorf("state: pool %s: started names %d tasks, but %d run", p.Path, len(p.Started), p.Running)
		}
		if err := checkRequest(p.Request); err != nil {
			return fmt.Errorf("state: pool %s: %w", p.Path, err)
		}
		tasks, err := p.checkJobs(s, seen)
		if err != nil {
			return err
		}
		if total += p.Running + p.Waiting + tasks; total > maxTasks || p.Running > maxTasks || p.Waiting > maxTasks {
			return fmt.Errorf("state: more than %d tasks", maxTasks)
		}
	}
	return nil
}

// UnmarshalJSON keeps the order of the pools.
func (p *Pools) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("pools must be an object: {\"PATH\": {\"running\": 1, \"waiting\": 2}}")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		var x Pool
		if err := d.Decode(&x); err != nil {
			return fmt.Errorf("pool %v: %w", t, err)
		}
		x.Path = t.(string)
		if seen[x.Path] {
			return fmt.Errorf("pool %s appears twice", x.Path)
		}
		seen[x.Path] = true
		*p = append(*p, x)
	}
	return nil
}

// Result is what the step decided.
type Result struct {
	Version  int                    `json:"version"`
	Now      time.Time              `json:"now"`
	Unit     string                 `json:"unit"`
	Capacity map[string]int64       `json:"capacity"`
	Idle     int64                  `json:"idle"` // units, before the step
	Order    []string               `json:"order"`
	Pools    map[string]*PoolResult `json:"pools"`
	Jobs     []*JobResult           `json:"jobs,omitempty"` // in the order of the next starts

	paths  []string
	byCore map[int64]*JobResult // by the number in the scheduler
}

// PoolResult is what the step says about one pool.
type PoolResult struct {
	Share   float64               `json:"share"`    // of the whole
	FairNow float64               `json:"fair_now"` // units that the ideal fluid scheduler would give it
	Used    float64               `json:"used"`     // decayed service, slot-seconds
	Policy  string                `json:"policy"`   // by which it is compared with its siblings
	Formula string                `json:"formula"`
	Order   string                `json:"order_by"` // which key goes first
	Terms   map[string]why.Number `json:"terms"`
	Key     why.Number            `json:"key"`
	// Resource is the one in which it is compared, under the policy drf.
	Resource string `json:"resource,omitempty"`
	Rank     int    `json:"rank,omitempty"` // in the order of the next starts, from 1
	Running  int    `json:"running"`
	Waiting  int    `json:"waiting"`
	Start    int    `json:"start"`
	Stop     int    `json:"stop"`
}

// Paths are the pools in the order of the tree.
func (r *Result) Paths() []string { return r.paths }

// Run puts the state into a scheduler under the shares, and lets it step once.
func Run(shares fairlead.Shares, s *State) (*Result, error) {
	cfg := shares.Sched
	cfg.Unit = unit(cfg.Unit, s.Capacity)
	core, err := sched.New(cfg, s.Now, s.Seed)
	if err != nil {
		return nil, err
	}
	node := core.Join("all", cluster.Amounts(s.Capacity), s.Now)
	leaves := fill(core, s, node)
	if s.RebalanceOverSince != nil {
		core.FarApartSince(*s.RebalanceOverSince)
	}
	placed, err := s.place(core, &shares)
	if err != nil {
		return nil, err
	}
	if core.Ranks() {
		core.Renew()
	}
	_, free := core.Cluster().Capacity()
	r := &Result{Version: 1, Now: s.Now, Unit: cfg.Unit, Capacity: s.Capacity, Idle: free[0], Order: []string{}, Pools: map[string]*PoolResult{}}
	r.describe(core)
	r.order(core, leaves)
	r.jobs(core, placed)
	r.step(core, s.Now)
	return r, nil
}

// unit is the resource that tasks are counted in: the configured one if there is any of
// it, else the only one there is.
func unit(configured string, capacity map[string]int64) string {
	if _, ok := capacity[configured]; ok || len(capacity) != 1 {
		return configured
	}
	return slices.Collect(maps.Keys(capacity))[0]
}

// fill puts the tasks of the state into the scheduler: those of a pool that run are
// one job, and those that wait another; both have the time limit that their pool gives to
// jobs that name none. It returns the leaves. The pools enter before anything is known of
// their usage, because the state is that of an instant at which all are there: none has come
// back from an absence.
func fill(core *sched.Scheduler, s *State, node cluster.NodeID) []sched.PoolID {
	normal := slices.IndexFunc(core.Config().Priorities, func(p sched.Priority) bool { return p.Name == "normal" })
	var leaves []sched.PoolID
	root := core.Config().Root
	job := func(p *Pool, id, tasks int) sched.Job {
		pool := core.Pool(p.Path)
		limit := root.Times(core.Path(pool)).Default()
		return sched.Job{ID: int64(id), Pool: pool, Shape: core.Shape(p.Request), Priority: max(0, normal), Tasks: tasks, Limit: limit}
	}
	for i := range s.Pools {
		core.Pool(s.Pools[i].Path)
	}
	// Only now is it known which are leaves: the tasks of a pool with others below it are
	// in its child default.
	for i := range s.Pools {
		p := &s.Pools[i]
		leaves = append(leaves, core.Pool(p.Path))
		if p.Waiting > 0 {
			core.Add(job(p, len(s.Pools)+1+i, p.Waiting), s.Now)
		}
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		for k := range p.Running {
			started := s.Now
			if s.RebalanceOverSince != nil { // it did not start just now: it may be stopped
				started = started.Add(-time.Second)
			}
			if k < len(p.Started) {
				started = p.Started[k]
			}
			core.Adopt(job(p, 1+i, p.Running), node, started, s.Now)
		}
		// used is all that the pool received, what its running tasks had so far included.
		leaf := core.Pool(p.Path)
		core.SetUsage(leaf, p.Used-core.View(leaf).Service(core.Now()))
		core.SetDeficit(leaf, p.Deficit)
	}
	return leaves
}

// describe notes how all pools stand before the step.
func (r *Result) describe(core *sched.Scheduler) {
	entitled := core.Entitlements()
	for i := 1; i < core.Pools(); i++ {
		id := sched.PoolID(i)
		if core.Band(id) {
			continue
		}
		p := core.View(id)
		x := &PoolResult{
			Share: entitled[id].Share, FairNow: entitled[id].Now, Used: p.Service(core.Now()) / core.Now().Growth,
			Running: int(p.Tasks), Waiting: int(p.Waiting),
		}
		levels := core.Comparisons(id, 1)
		last := levels[len(levels)-1]
		x.Policy, x.Formula, x.Order = last.Policy, last.Formula, last.Order
		for _, c := range last.Children {
			if c.Name == last.You {
				x.Terms, x.Key, x.Resource = c.Terms, c.Key, c.Resource
			}
		}
		path := core.Path(id)
		r.Pools[path] = x
		r.paths = append(r.paths, path)
	}
	r.fairShares(core)
	slices.SortFunc(r.paths, strings.Compare)
}

// order follows the next starts until every pool in which something waits had one.
func (r *Result) order(core *sched.Scheduler, leaves []sched.PoolID) {
	left := 0
	for _, id := range leaves {
		if core.View(id).Waiting > 0 {
			left++
		}
	}
	seen := map[sched.PoolID]bool{}
	steps := 0
	core.Preview(func(st sched.Start, _ float64) bool {
		if id := st.Pool; !seen[id] {
			seen[id] = true
			r.Order = append(r.Order, core.Path(id))
			r.Pools[core.Path(id)].Rank = len(r.Order)
		}
		steps++
		return len(seen) < left && steps < maxOrder
	})
}

// step lets the scheduler step, as often as its shortlist wants, and counts the starts.
// Tasks that it stops end at once, and what starts in their place counts, too.
func (r *Result) step(core *sched.Scheduler, now time.Time) {
	var d sched.Decision
	for more := true; more; more = d.More || len(d.Stops) > 0 {
		core.Step(now, 0, &d)
		for _, st := range d.Starts {
			if j := r.byCore[st.Job]; j != nil {
				j.Start++
			}
			r.count(core, st.Pool, func(p *PoolResult) { p.Start++ })
		}
		for _, st := range d.Stops {
			r.count(core, st.Pool, func(p *PoolResult) { p.Stop++ })
		}
		for _, st := range d.Stops {
			core.Finish(st.Run, now, false)
		}
	}
}

func (r *Result) count(core *sched.Scheduler, leaf sched.PoolID, add func(*PoolResult)) {
	for id := leaf; id != sched.Root; id = core.Parent(id) {
		if !core.Band(id) {
			add(r.Pools[core.Path(id)])
		}
	}
}
