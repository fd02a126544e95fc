package fairlead

import (
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// decisionsKept bounds how many decisions are remembered.
const decisionsKept = 10_000

// decisions remembers by which numbers the latest tasks were chosen.
type decisions struct {
	byTask map[taskID]*decided
	ring   []taskID
	next   int
}

// decided is the choice of one task.
type decided struct {
	at      time.Time
	attempt int
	step    uint64
	growth  float64
	levels  []sched.Level
}

func (d *decisions) add(core *sched.Scheduler, l *Lease, levels []sched.Level) {
	if d.byTask == nil {
		d.byTask = map[taskID]*decided{}
	}
	id := taskID{l.JobID, l.Task}
	if len(d.ring) < decisionsKept {
		d.ring = append(d.ring, id)
	} else {
		delete(d.byTask, d.ring[d.next])
		d.ring[d.next] = id
		d.next = (d.next + 1) % decisionsKept
	}
	d.byTask[id] = &decided{at: l.Started, attempt: l.Attempt, step: core.Steps(), growth: core.Now().Growth, levels: levels}
}

// addChoice adds by which comparisons the job's latest remembered task was chosen.
func (l *Loop) addChoice(a *why.Answer, j *Job) {
	for t := min(j.Tasks, 1000) - 1; t >= 0; t-- {
		if d := l.decided.byTask[taskID{j.ID, t}]; d != nil {
			a.Levels, a.Step, a.Units.Growth, a.Units.AsOf = d.choice(l.core), d.step, d.growth, d.at
			return
		}
	}
}

// choice tells the comparisons that led to a start, for a person or a program.
func (d *decided) choice(core *sched.Scheduler) []why.Level {
	var levels []why.Level
	for _, l := range d.levels {
		if l.Terms.Formula == nil {
			continue
		}
		f := l.Terms.Formula
		w := why.Level{
			Pool: core.Path(l.Pool), Policy: f.Policy, Formula: f.Text, Order: f.Order, Terms: f.Terms, Says: f.Says,
			You: core.Name(l.Child), Children: []why.Child{childOf(core, l.Child, l.Terms, l.Needy)},
			Behind: max(0, int(l.Open)-1),
		}
		if l.Rival != sched.Root {
			w.Children = append(w.Children, childOf(core, l.Rival, l.RivalTerms, l.Needy))
			w.Behind--
		}
		levels = append(levels, w)
	}
	return levels
}

func childOf(core *sched.Scheduler, id sched.PoolID, t why.Terms, needy bool) why.Child {
	c := why.Child{Name: core.Name(id), Terms: map[string]why.Number{}, Key: why.Number(t.Key), Tie: why.Number(t.Tie), Number: int32(id), Needy: needy, Open: true}
	if t.Resource > 0 {
		c.Resource = core.Cluster().Resource(int(t.Resource) - 1)
	}
	for i, term := range t.Formula.Terms {
		c.Terms[term.Name] = why.Number(t.Values[i])
	}
	return c
}
