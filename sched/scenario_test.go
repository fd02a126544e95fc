package sched_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// TestScenarios plays the worked examples of the sources, and their consequences, in virtual time. A scenario is a
// text: commands, a line of four dashes, and the output, which -update rewrites. So a change of arithmetic shows in
// review as changed sentences. Lines that begin with # are comments. The commands:
//
//	now TIME                             where the time begins; before the configuration
//	config                               the configuration that follows, indented
//	node NAME RESOURCE=N...              a node joins, or changes
//	window NAME FROM TO NODE... [closed] nodes are kept for jobs that ask for the window
//	submit JOB POOL [tasks=N|gang=N|nodes=N] [priority=P] [limit=D] [license=NAME:N] [window=NAME] [RESOURCE=N...]
//	                                     tasks that start one by one, at once, or at once on N nodes
//	running JOB POOL [as for submit]     the same for tasks that already run, on the first node
//	advance DURATION                     time passes
//	step [N]                             starts all tasks that can start, or N tasks
//	finish JOB|all [N]                   N of its tasks end, the oldest first
//	end                                  the stopped tasks end, and wait again
//	served POOL SLOT-SECONDS [DAY]       the service that a pool received before
//	why POOL                             the comparisons on the way to it
//	starves JOB                          how others can pass it forever
//	owed [POOL]                          the deficits of a pool's children
//	entitled                             the entitlement of each pool
//	rounds [POOL]                        how the policy load allots the free slots
//
// step prints where each start goes, or several starts of one job in a row, and the comparison that decided at each
// pool on the way: child and closest rival.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { playFile(t, file) })
	}
}

func playFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := playText(t, string(text))
	if *golden.Update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := strings.Split(string(text), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("%s:%d: got\n%s\n(go test ./sched -run TestScenarios -update)", file, i+1, line)
		}
	}
}

// playText plays a scenario and returns it with what it printed.
func playText(t *testing.T, text string) string {
	p := newPlay(t)
	var out, commands []string
	printed := false // the lines are the last output
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case printed:
			if printed = line != ""; printed {
				continue
			}
		case line == "----":
			out = append(out, line)
			out = append(out, p.commands(commands)...)
			commands, printed = nil, true
			continue
		case line != "" && !strings.HasPrefix(line, "#"):
			commands = append(commands, line)
		}
		out = append(out, line)
	}
	if len(commands) > 0 {
		t.Fatalf("no ---- after %q", commands[len(commands)-1])
	}
	return strings.Join(out, "\n") + "\n"
}

// play is a scenario while it is played.
type play struct {
	t     *testing.T
	s     *sched.Scheduler
	now   time.Time
	jobs  map[string]*playJob
	names []string // of the jobs, in order of submission
	stops []sched.Stop
	out   []string
	d     sched.Decision
}

type playJob struct {
	sched.Job
	runs []sched.RunID
}

func newPlay(t *testing.T) *play {
	return &play{t: t, now: epoch, jobs: map[string]*playJob{}}
}

func (p *play) say(format string, args ...any) {
	p.out = append(p.out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// commands runs lines; an indented line belongs to the one before.
func (p *play) commands(lines []string) []string {
	p.out = nil
	for i := 0; i < len(lines); i++ {
		words, body := strings.Fields(lines[i]), ""
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], " ") {
			i++
			body += lines[i] + "\n"
		}
		run := map[string]func([]string, string){
			"starves": p.starves,
			"now":     p.setNow, "config": p.config, "node": p.node, "window": p.window, "submit": p.submit, "running": p.running, "advance": p.advance, "step": p.step,
			"finish": p.finish, "end": p.end, "pause": p.pause, "resume": p.resume, "served": p.served, "why": p.why, "owed": p.owed, "entitled": p.entitled, "rounds": p.rounds,
		}[words[0]]
		if run == nil {
			p.t.Fatalf("unknown command %q", lines[i])
		}
		run(words[1:], body)
	}
	return p.out
}

func (p *play) setNow(args []string, _ string) { p.now = p.time(args[0]) }

func (p *play) time(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	p.check(err)
	return t
}

func (p *play) number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	p.check(err)
	return x
}

func (p *play) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// config applies a configuration. One with mistakes changes nothing.
func (p *play) config(_ []string, body string) {
	c, err := config.Parse("fairlead.yaml", []byte(body))
	if err != nil {
		problems, _, _ := strings.Cut(err.Error(), "\n")
		p.say("refused: %s", problems)
		return
	}
	if p.s == nil {
		p.s, err = sched.New(c.Shares.Sched, p.now, 1)
	} else {
		err = p.s.Configure(c.Shares.Sched, p.now)
	}
	p.check(err)
}

func (p *play) node(args []string, _ string) {
	amounts, _ := p.amounts(args[1:])
	p.s.Join(args[0], amounts, p.now)
}

// window keeps nodes from one time of this day to another.
func (p *play) window(args []string, _ string) {
	day := p.now.UTC().Format("2006-01-02T")
	w := cluster.Window{Name: args[0], From: p.time(day + args[1] + ":00Z").UnixNano(), To: p.time(day + args[2] + ":00Z").UnixNano()}
	for _, a := range args[3:] {
		if w.Closed = w.Closed || a == "closed"; a != "closed" {
			w.Nodes = append(w.Nodes, a)
		}
	}
	p.s.SetWindows(append(p.s.Cluster().Windows().All(), w), p.now)
}

// amounts reads NAME=N; it returns other values as text.
func (p *play) amounts(args []string) (cluster.Amounts, map[string]string) {
	amounts, rest := cluster.Amounts{}, map[string]string{}
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		if slices.Contains([]string{"tasks", "priority", "limit", "gang", "nodes", "license", "window"}, name) {
			rest[name] = value
			continue
		}
		amounts[name] = int64(p.number(value))
	}
	return amounts, rest
}

func (p *play) submit(args []string, _ string) { p.s.Add(p.job(args), p.now) }

func (p *play) running(args []string, _ string) {
	j := p.job(args)
	for range j.Tasks {
		id := p.s.Adopt(j, 0, p.now, p.now)
		p.jobs[args[0]].runs = append(p.jobs[args[0]].runs, id)
	}
}

func (p *play) job(args []string) sched.Job {
	amounts, rest := p.amounts(args[2:])
	j := sched.Job{
		ID: int64(len(p.jobs) + 1), Pool: p.s.Pool(args[1]), Submitted: p.now,
		Tasks: int(p.number(cmp.Or(rest["tasks"], rest["gang"], rest["nodes"], "1"))),
		Priority: slices.IndexFunc(p.s.Read().Config().Priorities, func(x sched.Priority) bool {
			return x.Name == cmp.Or(rest["priority"], "normal")
		}),
	}
	request := sched.Request{Amounts: amounts, Licenses: map[string]int64{}, Reservation: rest["window"]}
	if rest["gang"]+rest["nodes"] != "" {
		request.Gang, request.Spread = j.Tasks, rest["nodes"] != ""
	}
	if name, n, asks := strings.Cut(rest["license"], ":"); asks {
		request.Licenses[name] = int64(p.number(n))
	}
	j.Key = p.s.KeyOf(request)
	if limit := rest["limit"]; limit != "" {
		var err error
		j.Limit, err = time.ParseDuration(limit)
		p.check(err)
	}
	p.jobs[args[0]] = &playJob{Job: j}
	p.names = append(p.names, args[0])
	return j
}

func (p *play) advance(args []string, _ string) {
	d, err := time.ParseDuration(args[0])
	p.check(err)
	p.now = p.now.Add(d)
	p.s.Advance(p.now)
}

// pause keeps a pool from starting anything, forever or for a duration.
func (p *play) pause(args []string, _ string) {
	pause := sched.Pause{Pool: args[0], Since: p.now}
	if len(args) > 1 {
		d, err := time.ParseDuration(args[1])
		p.check(err)
		pause.Until = p.now.Add(d)
	}
	p.s.Pause(pause, p.now)
}

func (p *play) resume(args []string, _ string) {
	if !p.s.Resume(args[0], p.now) {
		p.say("%s was not paused", args[0])
	}
}

func (p *play) name(id int64) string { return p.names[id-1] }

// step prints the starts, with the starts of one pool in a row on one line.
func (p *play) step(args []string, _ string) {
	limit := 0
	if len(args) > 0 {
		limit = int(p.number(args[0]))
	}
	said := len(p.out)
	for more := true; more; more = p.d.More && limit == 0 {
		p.s.Step(p.now, limit, &p.d)
		for i := 0; i < len(p.d.Starts); {
			n := i + 1
			for n < len(p.d.Starts) && p.d.Starts[n].Pool == p.d.Starts[i].Pool && p.alike(p.d.Starts[i], p.d.Starts[n]) {
				n++
			}
			p.started(p.d.Starts[i:n])
			i = n
		}
		p.stopped(p.d.Stops)
	}
	for r := range p.s.Reservations() {
		p.say("room for %s on %s from %s", p.name(r.Job), p.nodes(r.Nodes), r.From.UTC().Format("15:04"))
	}
	if len(p.out) == said {
		p.say("nothing starts")
	}
}

// nodes names the nodes of a gang, each once.
func (p *play) nodes(ids []cluster.NodeID) string {
	var names []string
	for _, id := range ids {
		if name := p.s.Cluster().Nodes()[id].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// stopped prints the tasks that should end early, and equal lines once.
func (p *play) stopped(stops []sched.Stop) {
	p.stops = append(p.stops, stops...)
	count := map[string]int{}
	var all []string
	for _, x := range stops {
		text := fmt.Sprintf("of %s by %s: %s ran %s, is to have %s; %s", p.name(x.Job), x.Rule, p.s.Path(x.From), why.Short(x.FromRunning), why.Short(x.FromGoal), x.Choice)
		if count[text]++; count[text] == 1 {
			all = append(all, text)
		}
	}
	for _, text := range all {
		p.say("stop %d %s", count[text], text)
	}
}

// alike reports whether two starts were chosen against the same rivals.
func (p *play) alike(a, b sched.Start) bool {
	return slices.EqualFunc(p.d.Why(a), p.d.Why(b), func(a, b sched.Level) bool {
		return a.Rival == b.Rival && a.BelowMin == b.BelowMin
	})
}

// started prints starts of one pool: how many there are, and why the first was chosen.
func (p *play) started(starts []sched.Start) {
	var names []string
	count := map[string]int{}
	for _, st := range starts {
		name := p.name(st.Job)
		p.jobs[name].runs = append(p.jobs[name].runs, st.Run)
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		names[i] = fmt.Sprint(count[name], " of ", name)
	}
	p.say("start %s", strings.Join(names, ", "))
	for _, l := range p.d.Why(starts[0]) {
		p.say("  %s: %s", cmp.Or(p.s.Path(l.Pool), "root"), p.chosen(l))
	}
}

// chosen prints one choice: child, numbers, rival.
func (p *play) chosen(l sched.Level) string {
	text := fmt.Sprintf("%s %s", p.s.Read().Name(l.Child), p.filled(l.Terms))
	if l.BelowMin {
		text += ", below its minimum"
	}
	switch {
	case l.Rival != sched.Root:
		text += fmt.Sprintf(", before %s %s", p.s.Read().Name(l.Rival), p.filled(l.RivalTerms))
	case l.Open == 1:
		text += ", nobody else"
	}
	return text
}

// digits writes a number with more digits than an answer of why has. The rest that remains when fractions are added in
// another order is rounded to 0.
func digits(v float64) string {
	if math.Abs(v) < 1e-12 {
		return "0"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// filled adds the resource in which a child is compared.
func (p *play) filled(t why.Terms) string {
	if t.Resource > 0 {
		return p.s.Cluster().Resource(int(t.Resource)-1) + " " + filled(t)
	}
	return filled(t)
}

var words = regexp.MustCompile(`[a-z_]+`)

// filled writes a formula with numbers in place of the names, and its result.
func filled(t why.Terms) string {
	if t.Formula == nil {
		return ""
	}
	text := words.ReplaceAllStringFunc(t.Formula.Text, func(w string) string {
		for i, term := range t.Formula.Terms {
			if term.Name == w {
				return digits(t.Values[i])
			}
		}
		return w
	})
	if key := digits(t.Formula.Result(t.Key)); key != text {
		text += " = " + key
	}
	return text
}

func (p *play) finish(args []string, _ string) {
	names := p.names
	if args[0] != "all" {
		names = args[:1]
	}
	for _, name := range names {
		j := p.jobs[name]
		n := len(j.runs)
		if len(args) > 1 {
			n = int(p.number(args[1]))
		}
		for _, id := range j.runs[:n] {
			p.s.Finish(id, p.now, true)
		}
		j.runs = j.runs[n:]
	}
}

// end ends the stopped tasks; they wait again.
func (p *play) end([]string, string) {
	for _, x := range p.stops {
		j := p.jobs[p.name(x.Job)]
		p.s.Finish(x.Run, p.now, false)
		j.runs = slices.DeleteFunc(j.runs, func(id sched.RunID) bool { return id == x.Run })
		again := j.Job
		again.Tasks = 1
		p.s.Add(again, p.now)
	}
	p.stops = nil
}

// served counts service that a pool received before, perhaps on another day.
func (p *play) served(args []string, _ string) {
	pool, amount := p.s.Pool(args[0]), p.number(args[1])
	if len(args) > 2 {
		p.s.Memory().SeedDay(pool, amount, p.time(args[2]))
		return
	}
	p.s.Memory().SetUsage(pool, amount)
}
