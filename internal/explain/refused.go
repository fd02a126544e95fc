package explain

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// startRefused is the code of a job that a node could not begin, and that waits for another node.
const startRefused why.Code = "start.refused"

// leadRefused applies if nodes could not begin a job and no node has begun it. It makes this refusal the first reason,
// because the user wants to know it before anything else. Only reasons in the job itself stay ahead of it.
func leadRefused(st *engine.State, a *why.Answer, j *queue.Job, own bool) {
	text := refusedText(st, j)
	if text == "" || own || beganOnce(j) {
		return
	}
	e, _ := why.Explain(startRefused)
	a.Others = append([]why.Reason{a.Reason}, a.Others...)
	a.Reason = why.Reason{Code: startRefused, Text: text + "; it waits for another node", Next: e.Next}
}

// refusedBeside is for a job that has begun. It adds, to the gate of the nodes, the nodes that could not begin the job
// and do not get it again.
func refusedBeside(st *engine.State, g *why.Gate, j *queue.Job) {
	if g.Where != "nodes" || g.Open || !beganOnce(j) {
		return
	}
	if text := refusedText(st, j); text != "" {
		g.Text += "; " + text + " and not again until resumed"
	}
}

func beganOnce(j *queue.Job) bool { return j.Running+j.Succeeded+j.Failed > 0 }

// refusedText says which nodes could not begin a job, and why; "" if there are none.
func refusedText(st *engine.State, j *queue.Job) string {
	var parts []string
	for _, a := range st.Mended.Refused(engine.HeaderOf(j)) {
		parts = append(parts, fmt.Sprintf("%s could not begin it (%s)", a.Node, a.Cause))
	}
	return strings.Join(parts, ", ")
}
