package script

import (
	"errors"
	"fmt"
	"strings"
)

// split splits a line into words like a shell, with quotes and backslashes. A # at the start of a word begins a
// comment. If the flag "within" is set, a # inside a word does as well.
func split(line string, within bool) ([]string, error) {
	var words []string
	var word strings.Builder
	in, quote, escaped := false, rune(0), false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, in = r, true
		case r == '#' && (within || !in):
			if in {
				words = append(words, word.String())
			}
			return words, nil
		case r == ' ' || r == '\t':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quotation mark is not closed")
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

// option is one option on a line: its name without dashes, its value, and whether the value was attached to
// the name.
type option struct {
	name, value string
	attached    bool
	text        string // as written
}

// options groups words into options. The function "takes" reports which names take a value.
func options(words []string, takes func(name string) bool) ([]option, error) {
	var out []option
	for i := 0; i < len(words); i++ {
		w := words[i]
		if len(w) < 2 || w[0] != '-' {
			if len(out) > 0 && !out[len(out)-1].attached {
				return nil, fmt.Errorf("%q is not an option, and not the value of %s either: that option takes no "+
					"value or is unknown", w, out[len(out)-1].text)
			}
			return nil, fmt.Errorf("%q is not an option", w)
		}
		o := option{text: w}
		long := strings.HasPrefix(w, "--")
		if long {
			o.name, o.value, o.attached = strings.Cut(w[2:], "=")
		} else {
			o.name, o.value, o.attached = w[1:2], strings.TrimPrefix(w[2:], "="), len(w) > 2
		}
		if !o.attached && takes(o.name) {
			if i+1 == len(words) {
				return nil, fmt.Errorf("%s needs a value", w)
			}
			i++
			o.value = words[i]
			o.text += " " + words[i]
		}
		out = append(out, o)
	}
	return out, nil
}
