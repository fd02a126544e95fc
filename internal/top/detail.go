package top

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
)

// subject is the subject of a page of text: a job, a pool or a node.
type subject struct {
	pane int
	key  string
}

// text requests the text.
func (s subject) text(ctx context.Context, from source) ([]string, error) {
	switch {
	case s.key == "":
		return nil, nil
	case s.pane == jobs:
		id, err := strconv.ParseInt(s.key, 10, 64)
		if err != nil {
			return nil, err
		}
		a, err := from.Why(ctx, id, explain.WhyOptions{Siblings: 10, Estimate: true})
		if err != nil {
			return nil, err
		}
		return linesOf(a.Text()), nil
	case s.pane == pools:
		a, err := from.WhyPool(ctx, s.key)
		if err != nil {
			return nil, err
		}
		return linesOf(a.Text()), nil
	}
	return nodeText(ctx, from, s.key)
}

// nodeText describes a node, and explains why it does not run more.
func nodeText(ctx context.Context, from source, name string) ([]string, error) {
	doc, err := from.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	for i := range doc.Nodes {
		n := &doc.Nodes[i]
		if n.Name != name {
			continue
		}
		lines := []string{
			fmt.Sprintf("%s is %s, tasks: %d", n.Name, n.State, n.Tasks),
			"  reason            " + words.WhyNotMore(n, doc.Unit, doc.At),
			"  labels            " + words.Dash(words.Labels(n)),
			"  agent             " + strings.TrimSpace(words.Dash(n.Version)+" "+n.Host),
		}
		for _, w := range []struct{ name, resource string }{{doc.Unit, doc.Unit}, {"mem", "mem"}} {
			lines = append(lines, fmt.Sprintf("  %-16s  %s", w.name, words.Used(n, w.resource)))
		}
		return linesOf(strings.Join(append(lines, "  GPU               "+words.GPUs(n)), "\n")), nil
	}
	return nil, queue.Missingf("there is no node %q", name)
}

// linesOf splits a text into lines, without terminal control sequences.
func linesOf(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, clean(strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), "\n")))
	}
	return lines
}

// reader shows a text page by page.
type reader struct {
	of    subject
	title string
	lines []string
	from  int
	room  int // lines, when last drawn
}

func (r *reader) move(by int) { r.from = max(0, min(r.from+by, len(r.lines)-r.room)) }

// draw returns the visible lines. It breaks lines wider than the screen at spaces.
func (r *reader) draw(width, height int) []string {
	lines := []string{}
	for _, l := range r.lines {
		lines = append(lines, wrap(l, width)...)
	}
	r.room = height
	r.from = max(0, min(r.from, len(lines)-height))
	if r.lines == nil {
		return []string{"loading ..."}
	}
	return lines[r.from:min(len(lines), r.from+height)]
}

// wrap breaks a line at spaces; the further lines are indented a little more than the first.
func wrap(line string, width int) []string {
	if lipgloss.Width(line) <= width {
		return []string{line}
	}
	indent := len(line) - len(strings.TrimLeft(line, " ")) + 4
	if indent > width/2 {
		indent = 0
	}
	var out []string
	for part := range strings.Lines(ansi.Wrap(line, width, "")) {
		out = append(out, strings.TrimRight(part, "\n"))
		if len(out) == 1 {
			break
		}
	}
	rest := strings.TrimLeft(strings.TrimPrefix(line, out[0]), " ")
	for part := range strings.Lines(ansi.Wrap(rest, width-indent, "")) {
		out = append(out, strings.Repeat(" ", indent)+strings.TrimSpace(part))
	}
	return out
}
