package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead/fairlead/internal/units"
)

// described returns a function that returns the schema.
func described(schema object) func() object { return func() object { return schema } }

// whole is an integer between two bounds, both included.
func whole(least, most int) kind[int] {
	return kind[int]{
		word:   "integer",
		schema: described(object{"type": "integer", "minimum": least, "maximum": most}),
		read: func(r *reader, name string, n *node) (int, bool) {
			text, ok := r.text(name, n)
			if !ok {
				return 0, false
			}
			v, err := strconv.Atoi(text)
			if err != nil || n.quoted {
				r.errorf(n, "%s must be an integer, got %s", name, n.describe())
				return 0, false
			}
			if v < least || v > most {
				r.errorf(n, "%s must be from %d to %d, got %d", name, least, most, v)
				return 0, false
			}
			return v, true
		},
		show: func(v int) *node { return word(strconv.Itoa(v)) },
	}
}

// weight is a number that "check" accepts. For other numbers "check" returns the reason.
func weight(check func(float64) error) kind[float64] {
	schema := object{"type": "number", "minimum": 0, "maximum": 1e9}
	if check(0) != nil {
		schema = object{"type": "number", "exclusiveMinimum": 0, "maximum": 1e9}
	}
	return numbers(schema, func(_ string, v float64) error { return check(v) })
}

// bounded is a number above a lower bound, and at most an upper bound.
func bounded(least, most float64) kind[float64] {
	return numbers(object{"type": "number", "exclusiveMinimum": least, "maximum": most},
		func(name string, v float64) error {
			if !(v > least && v <= most) {
				return fmt.Errorf("%s must be above %v and at most %v, got %v", name, least, most, v)
			}
			return nil
		})
}

// numbers reads numbers that "check" accepts.
func numbers(schema object, check func(name string, v float64) error) kind[float64] {
	return kind[float64]{
		word:   "number",
		schema: described(schema),
		read: func(r *reader, name string, n *node) (float64, bool) {
			text, ok := r.text(name, n)
			if !ok {
				return 0, false
			}
			v, err := parseNumber(text)
			if err != nil || n.quoted {
				r.errorf(n, "%s must be a number, got %s", name, n.describe())
				return 0, false
			}
			if err := check(name, v); err != nil {
				r.errorf(n, "%v", err)
				return 0, false
			}
			return v, true
		},
		show: func(v float64) *node { return word(formatNumber(v)) },
	}
}

// parseNumber reads a decimal number, and the special numbers of YAML.
func parseNumber(text string) (float64, error) {
	switch strings.ToLower(text) {
	case ".nan":
		return math.NaN(), nil
	case ".inf", "+.inf":
		return math.Inf(1), nil
	case "-.inf":
		return math.Inf(-1), nil
	}
	if strings.ContainsAny(text, "xX_") { // readers of YAML disagree about these
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(text, 64)
	if math.IsInf(v, 0) {
		err = nil
	}
	return v, err
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

var boolean = kind[bool]{
	word:   "true or false",
	schema: described(object{"type": "boolean"}),
	read: func(r *reader, name string, n *node) (bool, bool) {
		if n.plain() && (n.text == "true" || n.text == "false") {
			return n.text == "true", true
		}
		r.errorf(n, "%s must be true or false, got %s", name, n.describe())
		return false, false
	},
	show: func(v bool) *node { return word(strconv.FormatBool(v)) },
}

// not reads a boolean and stores its opposite.
func not(k kind[bool]) kind[bool] {
	read, show := k.read, k.show
	k.read = func(r *reader, name string, n *node) (bool, bool) {
		v, ok := read(r, name, n)
		return !v, ok
	}
	k.show = func(v bool) *node { return show(!v) }
	return k
}

// line is a text that "check" accepts. Numbers count as text; true, false and null must be quoted, because unquoted
// they are ambiguous.
func line(what string, most int, check func(string) string) kind[string] {
	return kind[string]{
		word:   what,
		schema: described(object{"type": "string", "maxLength": most}),
		read: func(r *reader, name string, n *node) (string, bool) {
			text, ok := r.text(name, n)
			if !ok {
				return "", false
			}
			wrong := check(text)
			switch {
			case len(text) > most:
				wrong = "is longer than " + strconv.Itoa(most) + " bytes"
			case strings.ContainsFunc(text, unicode.IsControl):
				wrong = "holds a control character: " + clip(text)
			case n.plain() && (text == "true" || text == "false"):
				wrong = "must be text; put " + text + " in quotes if it is meant as text"
			}
			if wrong != "" {
				r.errorf(n, "%s %s", name, wrong)
			}
			return text, wrong == ""
		},
		show: textOf,
	}
}

func anyText(string) string { return "" }

func someText(text string) string {
	if text == "" {
		return "is empty"
	}
	return ""
}

// choice is one of several words. Each word stands for a value.
func choice[V comparable](what string, names []string, values []V) kind[V] {
	return kind[V]{
		word:   strings.Join(names, ", "),
		schema: described(object{"enum": names}),
		read: func(r *reader, name string, n *node) (v V, ok bool) {
			text, ok := r.text(name, n)
			if !ok {
				return v, false
			}
			if i := slices.Index(names, text); i >= 0 {
				return values[i], true
			}
			r.errorf(n, "%s", unknown(what, text, names))
			return v, false
		},
		show: func(v V) *node { return textOf(names[slices.Index(values, v)]) },
	}
}

// span is a duration that is not below `least`. If `zero` names a word, such as off, 0 and that word are allowed, too.
func span(least time.Duration, zero string) kind[time.Duration] {
	k := kind[time.Duration]{
		word:   "duration",
		schema: described(durationSchema(zero)),
		show: func(v time.Duration) *node {
			if v == 0 && zero != "" {
				return word(zero)
			}
			return word(units.FormatDuration(v))
		},
	}
	k.read = func(r *reader, name string, n *node) (time.Duration, bool) {
		text, ok := r.text(name, n)
		if !ok {
			return 0, false
		}
		if zero != "" && text == zero {
			return 0, true
		}
		d, err := units.ParseDuration(text)
		switch {
		case err != nil:
			r.errorf(n, "%s: %v", name, err)
		case d < least && (zero == "" || d != 0):
			r.errorf(n, "%s must be at least %s, got %s", name, units.FormatDuration(least), n.describe())
		default:
			return d, true
		}
		return 0, false
	}
	return k
}

func durationSchema(zero string) object {
	pattern := `([0-9]+-)?[0-9]+:[0-9]+:[0-9]+|([0-9]+(\.[0-9]+)?(w|d|h|m|s|ms|us|ns))+`
	schema := object{"type": "string", "examples": []string{"90s", "1h30m", "7d"}}
	if zero != "" { // an editor takes a bare 0 for a number
		schema["type"], schema["minimum"], schema["maximum"] = []string{"string", "integer"}, 0, 0
		pattern += "|0|" + zero
	}
	schema["pattern"] = "^(" + pattern + ")$"
	return schema
}

// seconds is a duration that is stored as a number of seconds.
func seconds(k kind[time.Duration]) kind[float64] {
	return kind[float64]{
		word: k.word, schema: k.schema,
		read: func(r *reader, name string, n *node) (float64, bool) {
			d, ok := k.read(r, name, n)
			return d.Seconds(), ok
		},
		show: func(v float64) *node { return k.show(time.Duration(math.Round(v * float64(time.Second)))) },
	}
}
