package server

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
)

// learn stores what an agent reports about its machine.
func (x *session) learn(f *api.Facts) {
	if f == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.facts = facts{f, time.Since(f.At)}
}

// patient is a node, with the report of its agent if the agent is connected to this server.
type patient struct {
	views.NodeView
	facts
	commands bool      // an agent, which runs commands
	silent   time.Time // since when its agent or bridge has no connection; zero: it has one, or none with this server
	// lostTasks is the number of its recent tasks that were lost since it was last seen.
	lostTasks int
}

// silent returns since when an agent or a bridge has no connection, or the zero time. A worker does not poll while it
// handles jobs.
func (x *session) silent() time.Time {
	if len(x.kinds) > 0 {
		return time.Time{}
	}
	return x.polls.since()
}

// patients returns all nodes.
func (s *examiner) patients() []patient {
	by := s.agents.byNode()
	nodes := views.Nodes(s.loop)
	lost := engine.Read(s.loop, func(state *engine.State) map[string]int { return lostTasks(state, nodes) })
	var out []patient
	for _, n := range nodes {
		p := patient{NodeView: n, lostTasks: lost[n.Name]}
		if x := by[n.Name]; x != nil {
			x.mu.Lock()
			p.facts, p.commands = x.facts, len(x.kinds) == 0
			x.mu.Unlock()
			p.silent = x.silent()
		}
		out = append(out, p)
	}
	return out
}

// lostTasks counts the tasks that each lost node had when it was lost. Only the last few tasks of a node are known.
func lostTasks(s *engine.State, nodes []views.NodeView) map[string]int {
	out := map[string]int{}
	for _, n := range nodes {
		if past := s.Past[n.Name]; n.State == "down" && past != nil {
			for _, r := range past.Runs {
				if r.End.State == "lost" && !r.Ended.Before(n.Seen) {
					out[n.Name]++
				}
			}
		}
	}
	return out
}

// asLost names a lost node, since when it is lost, and its tasks.
func (p *patient) asLost(name string, now time.Time) string {
	if !p.Seen.IsZero() {
		name += " since " + words.Clock(p.Seen, now)
	}
	switch {
	case p.Tasks > 0:
		name += fmt.Sprintf(" (%s there)", several(p.Tasks, "task"))
	case p.lostTasks > 0:
		name += fmt.Sprintf(" (%s lost)", several(p.lostTasks, "task"))
	}
	return name
}

// some names the first few of many names.
func some(names []string) string {
	slices.Sort(names)
	return words.First(names, 5)
}

// The checks of nodes. The first counts all nodes. The check drainedNodes is about nodes that take no tasks because
// somebody drained them.
const (
	allNodes     = "nodes"
	lostNodes    = "lost nodes"
	silentOnes   = "silent nodes"
	failingNodes = "failing nodes"
	drainedNodes = "drained nodes"
)

var nodeChecks = []string{allNodes, lostNodes, silentOnes, failingNodes, drainedNodes}

// checkNodes checks which nodes take tasks, and which are lost or drained.
func (s *examiner) checkNodes(all []patient) []api.HealthCheck {
	_, waiting := s.loop.Running()
	return judgeNodes(all, waiting, engine.Read(s.loop, explain.HeldUpIn))
}

// judgeNodes reports nodes that are lost, that begin no tasks, or that are drained, and the work that they delay.
func judgeNodes(all []patient, waiting int64, held explain.HeldUp) []api.HealthCheck {
	by, lost, start := map[string][]string{}, map[string]bool{}, "start an agent with: fairlead work"
	for _, n := range all {
		name := n.Name
		if n.State == "drain" && n.Why != "" {
			name += " (" + plain.Line(n.Why) + ")"
		}
		if kind := n.Labels[engine.BridgeLabel]; n.State == "down" && kind != "" { // bridges have their own check
			if !n.Drained { // otherwise it is away on purpose
				start = "start the bridge again: fairlead bridge " + kind + " --name " + n.Name
			}
			continue
		}
		lost[n.Name] = n.State == "down"
		if n.State == "down" {
			name = n.asLost(name, time.Now())
		}
		if !n.SetAside { // these are failing nodes
			by[n.State] = append(by[n.State], name)
		}
	}
	nodes := counted(good(allNodes, fmt.Sprintf("%d of %d take tasks", len(by["up"]), len(all))), len(by["up"]), "nodes")
	if len(by["up"]) == 0 {
		nodes.Result, nodes.Next = api.ResultFail, start
		if names, next := heldBack(all); len(names) > 0 {
			nodes.Text, nodes.Next = nodes.Text+", "+some(names), next
		}
		if waiting > 0 {
			nodes.Text += ", and " + units.Plural(int(waiting), "task") + " " + units.OneOf(int(waiting), "waits", "wait")
		}
	}
	checks := []api.HealthCheck{nodes}
	if down := by["down"]; len(down) > 0 {
		text := some(down) + explain.HeldUpText(held.Jobs(func(node string) bool { return lost[node] }))
		next := "check whether these machines run, and read the logs of their agents: journalctl -u fairlead-agent"
		checks = append(checks, counted(bad(lostNodes, api.ResultWarn, text, next), len(down), "nodes"))
	}
	if silent := silentNodes(all, time.Now()); len(silent) > 0 {
		next := "check whether these machines and their agents run: journalctl -u fairlead-agent. " +
			"Their tasks wait again when their leases have ended"
		checks = append(checks, counted(bad(silentOnes, api.ResultWarn, some(silent), next), len(silent), "nodes"))
	}
	if failing := begunNothing(all); len(failing) > 0 {
		checks = append(checks, counted(bad(failingNodes, api.ResultWarn, strings.Join(failing, "; "), "find the cause there; the server drains the node when tasks of three users fail in a row. After the repair: fairlead resume NODE"), len(failing), "nodes"))
	}
	if drained := by["drain"]; len(drained) > 0 {
		found := bad(drainedNodes, api.ResultWarn, some(drained), "when they are ready: fairlead resume NODE")
		checks = append(checks, counted(found, len(drained), "nodes"))
	}
	return checks
}

// heldBack names the nodes that are connected, and take no tasks because they are drained or in maintenance. The next
// step ends that.
func heldBack(all []patient) (names []string, next string) {
	next = "they take tasks again after their maintenance; to end it now, see: fairlead reserve"
	for _, n := range all {
		var name string
		switch {
		case n.State == "maintenance":
			name = n.Name + " is in maintenance"
		case n.State == "drain" && (n.Drained || n.SetAside):
			name = n.Name + " is drained"
		default:
			continue
		}
		switch {
		case n.SetAside: // another check says why the server drained it
		case n.Drain != nil && n.Drain.Reason != "":
			name += ": " + n.Drain.Reason
		case n.Drain == nil && n.Why != "":
			name += " (" + n.Why + ")"
		}
		if names = append(names, plain.Line(name)); n.Drained || n.SetAside {
			next = "when they are ready: fairlead resume NODE"
			if len(all) == 1 {
				next = "when it is ready: fairlead resume " + plain.Line(n.Name)
			}
		}
	}
	return names, next
}

// silentAfter is the time without a connection after which an agent is called silent. A live agent connects again at
// once.
const silentAfter = 3 * time.Second

// lostConnection reports whether a node has no connection, but is not lost yet.
func (p *patient) lostConnection(now time.Time) bool {
	return p.State != "down" && !p.silent.IsZero() && now.Sub(p.silent) >= silentAfter
}

// silentNodes names the nodes whose agents have lost the connection, before their leases end and they are lost. Bridges
// have a check of their own.
func silentNodes(all []patient, now time.Time) (out []string) {
	for _, n := range all {
		if n.lostConnection(now) && n.Labels[engine.BridgeLabel] == "" {
			since := words.Clock(n.silent, now)
			out = append(out, fmt.Sprintf("%s since %s (%s there)", n.Name, since, several(n.Tasks, "task")))
		}
	}
	return out
}

// begunNothing reports the nodes that take tasks, or would, but did not begin the last few of them.
func begunNothing(all []patient) []string {
	const most, least = 5, 2
	var out []string
	for _, n := range all {
		if n.SetAside {
			out = append(out, plain.Line(n.Name+" is "+n.Why))
			continue
		}
		if n.Fault == nil || n.Fault.Tasks < least || n.Drained || n.State == "down" {
			continue
		}
		if len(out) == most {
			return append(out, "and more")
		}
		out = append(out, fmt.Sprintf("%s began none of its last %s, the latest: %s", n.Name, several(n.Fault.Tasks, "task"), plain.Line(n.Fault.Last)))
	}
	return out
}

// clockWarn is how far clocks may differ. Leases do not depend on it; logs and begin times do.
const clockWarn = 5 * time.Second

// checkRights checks whether the agents run the jobs of the users who wait.
func checkRights(all []patient, users []string) api.HealthCheck {
	var found []string
	allow, refuse, any := []string{}, []string{}, []string{}
	runs := map[string]bool{} // users whose jobs some agent runs
	each := false             // some agent runs each job as its user
	agents := 0
	for _, n := range all {
		if n.Facts == nil || !n.commands || n.State == "down" {
			continue
		}
		agents++
		switch {
		case n.Runs == "any" && n.User == "root":
			any = append(any, n.Name)
		case n.Runs == "users":
			each = true
		}
		if n.Runs == "any" {
			each = true
		}
		runs[n.User] = true
		if n.AllowRoot || n.Runs == "own" && n.User == "root" {
			allow = append(allow, n.Name)
		} else {
			refuse = append(refuse, n.Name)
		}
	}
	if len(any) > 0 {
		found = append(found, some(any)+" run the jobs of all users as root (--any-user)")
	}
	if len(allow) > 0 && len(refuse) > 0 {
		found = append(found, fmt.Sprintf("%s run the jobs of root, %s refuse them: there such jobs fail", some(allow), some(refuse)))
	}
	for _, u := range users {
		if agents > 0 && !each && !runs[u] {
			found = append(found, fmt.Sprintf("jobs of %s wait, but all agents run only the jobs of their own user", plain.Line(u)))
		} else if agents > 0 && u == "root" && len(allow) == 0 {
			found = append(found, "jobs of root wait, but no agent runs them")
		}
	}
	if len(found) == 0 {
		return counted(good("rights", several(agents, "agent")+"; the jobs of all waiting users can run"), 0, "contradictions")
	}
	return counted(bad("rights", api.ResultWarn, strings.Join(found, "; "), "start all agents in the same way: as root, to run each job as its user, with --allow-root for jobs of root"), len(found), "contradictions")
}

// checkBounds checks whether agents offer more than their control groups and limits allow.
func checkBounds(all []patient) api.HealthCheck {
	var found []string
	for _, n := range all {
		if n.Facts == nil || n.State == "down" || !n.commands {
			continue
		}
		if mem := n.Capacity["mem"]; n.MaxMemory > 0 && mem > n.MaxMemory {
			found = append(found, fmt.Sprintf("%s offers %s of memory, but its control group is limited to %s", n.Name, words.Size(mem), words.Size(n.MaxMemory)))
		}
		if cpu := n.Capacity["cpu"]; n.MaxCPUs > 0 && float64(cpu) > n.MaxCPUs+0.5 {
			found = append(found, fmt.Sprintf("%s offers %d cpu, but its control group is limited to %.1f", n.Name, cpu, n.MaxCPUs))
		}
		if n.MaxTasks > 0 && n.MaxTasks < 64*max(1, n.Capacity["cpu"]) {
			found = append(found, fmt.Sprintf("the control group of %s is limited to %d processes and threads", n.Name, n.MaxTasks))
		}
		if n.OpenFiles > 0 && n.OpenFiles < 1024 {
			found = append(found, fmt.Sprintf("%s is limited to %d open files", n.Name, n.OpenFiles))
		}
	}
	if len(found) == 0 {
		return counted(good("agents' limits", "no agent offers more than its limits"), 0, "agents")
	}
	return counted(bad("agents' limits", api.ResultWarn, some(found), "offer less (--cpus, --mem), or raise MemoryMax, CPUQuota, TasksMax or LimitNOFILE of the agent's unit"), len(found), "agents")
}
