package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// Reweigh returns the text of the configuration with new weights of some pools, by path. It keeps everything else:
// comments, order and notation. It fails if the text gives a weight in a form that cannot be changed alone, such as a
// percentage or an alias. It does not check the weights; parsing the text does that. The function "parse" parses the
// new text, as [Parse] does; a caller that parses it later as well may keep the result.
func (c *Config) Reweigh(weights map[string]float64, parse func(name, text string) (*Config, error)) (string, error) {
	w := reweighing{lines: strings.SplitAfter(c.text, "\n")}
	var want []string
	for _, pool := range slices.Sorted(maps.Keys(weights)) {
		value := strconv.FormatFloat(weights[pool], 'f', -1, 64)
		want = append(want, weightPath(pool))
		if err := w.pool(c.root, pool, value); err != nil {
			return "", err
		}
	}
	out := w.text()
	after, err := parse(c.name, out)
	if err != nil {
		return out, nil // the reader of the configuration reports the error
	}
	for _, d := range Diff(c, after) {
		if !slices.Contains(want, d.Path) {
			return "", fmt.Errorf("the weights cannot be changed alone, because %s would change with them; edit the text", d.Path)
		}
	}
	return out, nil
}

func weightPath(pool string) string {
	names := []string{}
	for part := range strings.SplitSeq(pool, "/") {
		names = append(names, "pools", part)
	}
	return joinPath(append(names, "weight"))
}

// reweighing is a text with the changes to be made in it.
type reweighing struct {
	lines []string
	edits []edit
}

// edit replaces a part of one line.
type edit struct {
	place
	old, new string
}

// pool changes one pool.
func (w *reweighing) pool(root *node, path, value string) error {
	n, key := root, root
	for part := range strings.SplitSeq(path, "/") {
		all := n.get("pools")
		if all.find(part) < 0 {
			return fmt.Errorf("the file does not name the pool %s; edit the text to add it", clip(path))
		}
		n, key = all.get(part), all.key(part)
	}
	for _, other := range []string{"share", "load"} {
		if n.find(other) >= 0 {
			return fmt.Errorf("pool %s has a %s; edit the text to give it a weight", clip(path), other)
		}
	}
	if old := n.get("weight"); old != nil {
		return w.replace(path, old.place, old.text, value)
	}
	switch {
	case n.kind == nothing && w.empty(key):
		return w.replace(path, key.place, key.text+":", key.text+": {weight: "+value+"}")
	case n.kind == mapping && w.at(n.place, "{"):
		more := ", "
		if len(n.keys) == 0 {
			more = ""
		}
		return w.replace(path, n.place, "{", "{weight: "+value+more)
	case n.kind == mapping && len(n.keys) > 0:
		first := n.keys[0]
		return w.replace(path, first.place, first.text, "weight: "+value+"\n"+strings.Repeat(" ", first.col-1)+first.text)
	}
	return cannot(path)
}

func cannot(path string) error {
	return fmt.Errorf(
		"the file is written in such a way that the weight of pool %s cannot be changed alone; edit the text", clip(path))
}

// at reports whether a text stands at a place.
func (w *reweighing) at(p place, text string) bool {
	if p.line < 1 || p.line > len(w.lines) {
		return false
	}
	line := []rune(w.lines[p.line-1])
	return p.col >= 1 && p.col <= len(line) && strings.HasPrefix(string(line[p.col-1:]), text)
}

// empty reports whether nothing follows a name and its colon.
func (w *reweighing) empty(key *node) bool {
	if !w.at(key.place, key.text+":") {
		return false
	}
	rest := []rune(w.lines[key.line-1])[key.col-1+len([]rune(key.text))+1:]
	text := strings.TrimSpace(string(rest))
	return text == "" || strings.ContainsAny(text[:1], "#,}")
}

func (w *reweighing) replace(path string, p place, old, new string) error {
	if old == "" || !w.at(p, old) {
		return cannot(path)
	}
	w.edits = append(w.edits, edit{p, old, new})
	return nil
}

// text applies all edits, from the last to the first, so that places stay correct.
func (w *reweighing) text() string {
	slices.SortFunc(w.edits, func(a, b edit) int {
		if a.line != b.line {
			return b.line - a.line
		}
		return b.col - a.col
	})
	for _, e := range w.edits {
		line := []rune(w.lines[e.line-1])
		w.lines[e.line-1] = string(line[:e.col-1]) + e.new + strings.TrimPrefix(string(line[e.col-1:]), e.old)
	}
	return strings.Join(w.lines, "")
}

// Reweighable reports whether the text names a pool, with a weight or without, in a form that [Config.Reweigh] can
// change.
func (c *Config) Reweighable(pool string) bool {
	if share.CheckPath(pool) != nil {
		return false
	}
	w := reweighing{lines: strings.SplitAfter(c.text, "\n")}
	return w.pool(c.root, pool, "1") == nil
}

// Weight returns the weight that the text gives a pool. The second result reports whether the text gives one.
func (c *Config) Weight(pool string) (weight float64, named bool) {
	n := c.root
	for part := range strings.SplitSeq(pool, "/") {
		all := n.get("pools")
		if all == nil || all.find(part) < 0 {
			return 0, false
		}
		n = all.get(part)
	}
	given := n.get("weight")
	if given == nil {
		return 0, false
	}
	weight, err := strconv.ParseFloat(given.text, 64)
	return weight, err == nil
}
