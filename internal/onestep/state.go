package onestep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// Job is a single waiting job of a state, besides the counts of its pool. The policy multifactor needs single
// jobs, because each has a priority.
type Job struct {
	ID        int64     `json:"id"`
	Submitted time.Time `json:"submitted"` // default: now
	Tasks     int       `json:"tasks"`     // default: 1
	Request   Amounts   `json:"request"`   // per task; default: one unit
	Priority  string    `json:"priority"`  // default: normal
	QOS       string    `json:"qos"`
	Nice      int       `json:"nice"`
	Limit     string    `json:"limit"` // e.g. 2h
	User      string    `json:"user"`  // from here on: for the rules of the site
	Group     string    `json:"group"`
	Kind      string    `json:"kind"`
	Requestor string    `json:"requestor"`

	limit time.Duration
}

// checkJobs checks the jobs of a pool, and sets the defaults of missing fields.
func (p *Pool) checkJobs(s *State, seen map[int64]bool) (tasks int, err error) {
	for i := range p.Jobs {
		j := &p.Jobs[i]
		switch {
		case j.ID < 1:
			return 0, fmt.Errorf("state: pool %s: a job needs an id above 0", p.Path)
		case seen[j.ID]:
			return 0, fmt.Errorf("state: job %d appears twice", j.ID)
		case j.Tasks < 0 || j.Tasks > maxTasks:
			return 0, fmt.Errorf("state: job %d: tasks must be from 0 to %d", j.ID, maxTasks)
		case j.Nice < -sched.MaxNice || j.Nice > sched.MaxNice:
			return 0, fmt.Errorf("state: job %d: nice must be from %d to %d", j.ID, -sched.MaxNice, sched.MaxNice)
		}
		seen[j.ID] = true
		j.Tasks = max(1, j.Tasks)
		tasks += j.Tasks
		if j.Submitted.IsZero() {
			j.Submitted = s.Now
		}
		if j.Submitted.After(s.Now) {
			return 0, fmt.Errorf("state: job %d was submitted after now", j.ID)
		}
		if err := j.Request.check(); err != nil {
			return 0, fmt.Errorf("state: job %d: request: %w", j.ID, err)
		}
		if j.Limit != "" {
			if j.limit, err = units.ParseTimeLimit(j.Limit); err != nil {
				return 0, fmt.Errorf("state: job %d: limit: %w", j.ID, err)
			}
			if j.limit == 0 {
				j.limit = queue.NoLimit
			}
		}
	}
	return tasks, nil
}

// State is the state before the step.
type State struct {
	Now      time.Time `json:"now"`
	Seed     uint64    `json:"seed"`
	Capacity Amounts   `json:"capacity"` // all of it on one node
	Pools    Pools     `json:"pools"`
	// RebalanceOverSince is the instant since which the spread of the policy load is above its threshold.
	RebalanceOverSince *time.Time `json:"rebalance_over_since"`
}

func (s *State) check() error {
	if s.Now.IsZero() {
		return errors.New("state: now is missing, e.g. \"now\": \"2026-01-05T08:00:00Z\"")
	}
	if len(s.Capacity) == 0 {
		return errors.New("state: capacity is missing, e.g. \"capacity\": {\"slots\": 100}")
	}
	if err := s.Capacity.check(); err != nil {
		return fmt.Errorf("state: capacity: %w", err)
	}
	total, seen := 0, map[int64]bool{}
	for i := range s.Pools {
		p := &s.Pools[i]
		if err := share.CheckPath(p.Path); err != nil {
			return fmt.Errorf("state: pool %q: %w", p.Path, err)
		}
		if p.Running < 0 || p.Waiting < 0 || p.Used < 0 || math.IsNaN(p.Used) || math.IsInf(p.Used, 0) ||
			math.IsNaN(p.Deficit) || math.IsInf(p.Deficit, 0) {
			return fmt.Errorf("state: pool %s: running, waiting and used must be 0 or more", p.Path)
		}
		if len(p.Started) > p.Running {
			return fmt.Errorf("state: pool %s: started names %d tasks, but %d run", p.Path, len(p.Started), p.Running)
		}
		if err := p.Request.check(); err != nil {
			return fmt.Errorf("state: pool %s: request: %w", p.Path, err)
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

// Pools are the pools of a state, in the order of the file: the first is the oldest.
type Pools []Pool

// Pool is the state of one pool.
type Pool struct {
	Path    string      `json:"-"`
	Running int         `json:"running"`
	Waiting int         `json:"waiting"`
	Used    float64     `json:"used"`    // decayed service as of now, in slot-seconds
	Started []time.Time `json:"started"` // of the running tasks, as far as known
	Deficit float64     `json:"deficit"` // the deficit under the policy deficit, in slot-seconds
	// Request is the request of each of its running tasks, and of the tasks of Waiting; one unit if it is
	// empty.
	Request Amounts `json:"request"`
	Jobs    []Job   `json:"jobs"` // waiting jobs, besides the tasks of Waiting
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
			return &inPool{fmt.Sprint(t), err}
		}
		x.Path = t.(string)
		if path := share.Reading(x.Path); path != "" { // the name of a user need not be a valid pool name
			x.Path = path
		}
		if seen[x.Path] {
			return fmt.Errorf("pool %s appears twice", x.Path)
		}
		seen[x.Path] = true
		*p = append(*p, x)
	}
	return nil
}

// maxTasks bounds the tasks of a state, and maxOrder the starts that are followed for the order.
const (
	maxTasks = 10_000_000
	maxOrder = 1_000_000
)

// Read reads a state. The error names the mistake and its place.
func Read(text []byte) (*State, error) {
	s := &State{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, place(text, d, err)
	}
	if d.More() {
		return nil, place(text, d, errors.New("there is more text after the state"))
	}
	return s, s.check()
}
