package why

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Bridged locates a task in another queueing system, as its bridge reports it. A task that waits there counts
// as running here, because it is leased to the bridge.
type Bridged struct {
	Task   int    `json:"task"`
	Number int    `json:"number"` // in the array of the job
	Bridge string `json:"bridge"` // the node
	System string `json:"system"`
	ID     string `json:"id,omitempty"` // in the other system
	Phase  string `json:"phase"`
	// Says is the queueing system's own message, and At is the time of that message.
	Says  string     `json:"says,omitempty"`
	At    time.Time  `json:"at"`
	Began *time.Time `json:"began,omitempty"`
	// Place is back, front or above, if the bridge chooses a place. Priority is the priority that the bridge
	// gave the task in the queueing system.
	Place    string `json:"place,omitempty"`
	Priority int64  `json:"priority"`
	// Text explains in words why the task is at that place; Decision has the numbers, see package frontback.
	Text     string          `json:"text,omitempty"`
	Decision json.RawMessage `json:"decision,omitempty"`
	Forgot   int             `json:"forgot,omitempty"` // how often the queueing system forgot it
}

// The phases of a task in another queueing system.
const (
	BridgedSending = "sending" // not there yet
	BridgedUnsure  = "unsure"  // it may be there or have ended; the bridge asks again
	BridgedPending = "pending"
	BridgedRunning = "running"
	BridgedLeaving = "leaving" // the bridge is removing it
)

// Line describes where the task is, on one line.
func (b *Bridged) Line() string {
	where := b.System
	if b.ID != "" {
		where += " " + b.ID
	}
	text := map[string]string{
		BridgedSending: "is being sent to " + b.System,
		BridgedUnsure:  "may be in " + where,
		BridgedPending: "waits in " + where,
		BridgedRunning: "runs in " + where,
		BridgedLeaving: "is being taken out of " + where,
	}[b.Phase]
	switch {
	case b.Place == "above":
		text += ", above the front"
	case b.Place != "":
		text += ", at the " + b.Place
	}
	if b.Says != "" {
		text += ": " + oneLine(b.Says)
	}
	return text
}

// Sentence describes a task that has not started in the other system.
func (b *Bridged) Sentence() string {
	if b.Phase != BridgedPending {
		return "it " + b.Line()
	}
	text := "it was submitted to " + b.System
	if b.ID != "" {
		text += " as " + b.ID
	}
	if text += ", and waits there"; b.Says != "" {
		text += ": " + oneLine(b.Says)
	}
	return text
}

// oneLine writes another program's text on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// aside returns, in parentheses, the task's priority in the queueing system, unless Says ends with it, and
// the age of the report.
func (b *Bridged) aside(at time.Time) string {
	var parts []string
	if text := fmt.Sprint("priority ", b.Priority); !strings.HasSuffix(b.Says, text) {
		parts = append(parts, text)
	}
	if age := at.Sub(b.At).Round(time.Second); age > 0 {
		parts = append(parts, fmt.Sprintf("as of %v ago", age))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// maxBridged is the number of tasks that a text answer lists.
const maxBridged = 10

// bridgedText is the part of an answer about another queueing system.
func bridgedText(all []Bridged, at time.Time) string {
	var out strings.Builder
	for i := range all[:min(len(all), maxBridged)] {
		b := &all[i]
		name := "it"
		if len(all) > 1 {
			name = fmt.Sprintf("task %d", b.Number)
		}
		fmt.Fprintf(&out, "  BRIDGE  %s %s%s\n", name, b.Line(), b.aside(at))
		if b.Forgot > 0 {
			fmt.Fprintf(&out, "          %s forgot it %d times; it was submitted again each time\n", b.System, b.Forgot)
		}
		if b.Text != "" {
			fmt.Fprintf(&out, "          %s\n", b.Text)
		}
	}
	if n := len(all) - maxBridged; n > 0 {
		fmt.Fprintf(&out, "          and %d more; all of them: --json\n", n)
	}
	return out.String()
}
