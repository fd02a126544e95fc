package engine

import (
	"cmp"
	"encoding/json"
	"strings"
)

// Drain says why a node takes no more tasks.
type Drain struct {
	// Maintenance is set if an administrator set the node to maintenance.
	Maintenance bool   `json:"maintenance,omitempty"`
	Reason      string `json:"reason,omitempty"`
	By          string `json:"by,omitempty"` // the administrator; "" if nobody is named
	// SetAside is set if the server drained the node because it began none of its tasks.
	SetAside bool `json:"set_aside,omitempty"`
}

// readDrain reads a stored drain. Earlier versions stored a text, such as "fan (by root)", with the first line
// "maintenance" if the node was in maintenance.
func readDrain(text string) (d Drain, err error) {
	if json.Unmarshal([]byte(text), &d) == nil {
		return d, nil
	}
	d = Drain{}
	d.Reason, d.Maintenance = strings.CutPrefix(text, "maintenance\n")
	if i := strings.LastIndex(d.Reason, "(by "); i >= 0 && strings.HasSuffix(d.Reason, ")") {
		d.Reason, d.By = strings.TrimSpace(d.Reason[:i]), d.Reason[i+len("(by "):len(d.Reason)-1]
	}
	if d.SetAside = d.By == byServer; d.SetAside {
		d.By = ""
	}
	return d, nil
}

// byServer names the server as the one who drained a node.
const byServer = "the server"

// Text says in words why a node takes no tasks: "drained: fan (by root)". It is empty if the node is not drained.
func (d *Drain) Text() string {
	if d == nil {
		return ""
	}
	kind, why := "drained", d.words()
	if d.Maintenance {
		kind = "maintenance"
	}
	if d.Reason == "" && d.By != "" {
		return kind + " " + why
	}
	return kind + ": " + why
}

// words returns the reason and the administrator.
func (d *Drain) words() string {
	by := d.By
	if d.SetAside {
		by = byServer
	}
	if by == "" {
		return cmp.Or(d.Reason, "no reason given")
	}
	return strings.TrimSpace(d.Reason + " (by " + by + ")")
}

// recorded describes a drain in the record of changes; "" if the node takes tasks.
func (d *Drain) recorded() string {
	switch {
	case d == nil:
		return ""
	case d.Maintenance:
		return "maintenance: " + d.words()
	}
	return d.words()
}
