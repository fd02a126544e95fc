package config

// textList is one text, or a list of at most "most" texts. The arguments "one" and "several" name them in messages.
func textList(one, several, pattern string, most int, check func(string) string) kind[[]string] {
	return kind[[]string]{
		word: one + " or list of " + several,
		schema: func() object {
			item := object{"type": "string", "pattern": pattern}
			return object{"anyOf": []any{item, object{"type": "array", "items": item, "maxItems": most}}}
		},
		read: func(r *reader, name string, n *node) ([]string, bool) {
			all := []*node{n}
			if n.kind == list {
				all = n.items
			}
			if len(all) > most {
				r.errorf(n, "%s names %d %s, but the maximum is %d", name, len(all), several, most)
				return nil, false
			}
			out := []string{}
			for _, item := range all {
				if text, ok := r.text(name, item); !ok {
					continue
				} else if wrong := check(text); wrong != "" {
					r.errorf(item, "%s: %s", name, wrong)
				} else {
					out = append(out, text)
				}
			}
			return out, true
		},
		show: showTextList,
	}
}

func showTextList(all []string) *node {
	if len(all) == 1 {
		return textOf(all[0])
	}
	n := &node{kind: list}
	for _, text := range all {
		n.items = append(n.items, textOf(text))
	}
	return n
}
