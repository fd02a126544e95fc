package config

import (
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// readYAML parses a text. The problem says where the text stops being valid.
func readYAML(text string) (*node, *Problem) {
	d := &document{lines: strings.Split(text, "\n")}
	for i, line := range d.lines { // checked here, because the library takes quadratic time for many lines
		if strings.HasPrefix(line, "%") {
			d.fail(place{i + 1, 1}, "a line must not begin with %%: directives are not supported")
			return nil, d.failed
		}
	}
	loader, err := yaml.NewLoader(strings.NewReader(text),
		yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth))))
	if err != nil {
		return nil, d.syntax(err)
	}
	root := &node{place: place{1, 1}}
	for first := true; ; first = false {
		var y yaml.Node
		switch err := loader.Load(&y); {
		case errors.Is(err, io.EOF):
			return root, d.failed
		case err != nil:
			return nil, d.syntax(err)
		case first:
			root = d.node(y.Content[0])
		default:
			d.fail(d.at(y.Line, y.Column), "a second document begins here; the file must have only one")
		}
		if d.failed != nil {
			return nil, d.failed
		}
	}
}

// node converts y and everything below it.
func (d *document) node(y *yaml.Node) *node {
	n := &node{place: d.at(y.Line, y.Column)}
	if d.check(n, y); d.failed != nil {
		return n
	}
	switch y.Kind {
	case yaml.ScalarNode:
		const quotes = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
		n.kind, n.text, n.quoted = scalar, y.Value, y.Style&quotes != 0
		if y.Tag == "!!null" {
			n.kind = nothing
		}
	case yaml.AliasNode:
		return d.follow(n, y)
	default:
		d.above = append(d.above, y)
		if n.kind = list; y.Kind == yaml.MappingNode {
			n.kind = mapping
		}
		for i := 0; i < len(y.Content) && d.failed == nil; i++ {
			if n.kind == mapping {
				n.keys = append(n.keys, d.name(y, i))
				i++
			}
			n.items = append(n.items, d.node(y.Content[i]))
		}
		d.above = d.above[:len(d.above)-1]
	}
	return n
}

// check refuses nodes that a configuration must not use, and too many nodes.
func (d *document) check(n *node, y *yaml.Node) {
	if y.Style&yaml.TaggedStyle != 0 || y.Tag == "!" {
		d.fail(n.place, noTags)
	}
	if len(d.above) > maxDepth {
		d.fail(n.place, tooDeep, maxDepth)
	}
	if d.alias != nil {
		if d.copies++; d.copies > maxCopies {
			d.fail(d.alias.place, "the aliases (*) down to here expand to more than %d values", maxCopies)
		}
	}
}

// follow converts the value that an alias stands for. The value itself gets the place of the alias; nodes inside it
// keep the places where they are written.
func (d *document) follow(n *node, y *yaml.Node) *node {
	if slices.Contains(d.above, y.Alias) {
		d.fail(n.place, "the alias *%s is part of its own value", y.Value)
		return n
	}
	if d.alias == nil {
		d.alias = n
		defer func() { d.alias = nil }()
	}
	to := d.node(y.Alias)
	to.place = n.place
	return to
}

// name converts the i-th node of a mapping, which is a name.
func (d *document) name(y *yaml.Node, i int) *node {
	n, k, v := d.node(y.Content[i]), y.Content[i], y.Content[i+1]
	end := k.Column + utf8.RuneCountInString(k.Value)
	switch {
	case n.kind == list || n.kind == mapping:
		d.fail(n.place, "a name must be text, got %s; a value that begins with a bracket has to be in quotes",
			n.describe())
	case n.quoted:
	case n.text == "<<":
		d.fail(n.place, "merge keys (<<) are not supported")
	case n.text == "":
		d.fail(n.place, "a name is missing before the colon")
	case y.Style&yaml.FlowStyle != 0 && v.Tag == "!!null" && v.Value == "" && v.Line == k.Line && v.Column == end:
		// The library reads {a} as {a: }, and puts the value right behind the name.
		d.fail(d.at(v.Line, v.Column), "expected a colon after %s; a value that holds braces has to be in quotes",
			clip(n.text))
	}
	n.kind = scalar // null is a name like any other
	return n
}
