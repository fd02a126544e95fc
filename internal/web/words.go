package web

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/why"
)

// words are the functions of the templates. They write as the command line does. Numbers stand in
// a data element, whose value is the exact one.
var words = template.FuncMap{
	"asset":   assetPath,
	"percent": percent,
	"count":   count,
	"units":   amount,
	"owed":    owed,
	"span":    span,
	"size":    size,
	"seconds": func(s float64) template.HTML { return span(s) },
	"ago":     ago,
	"clock":   clock,
	"last":    lastOf,
	"over":    why.OverUnder,
	"short":   why.Short,
	"number":  exact,
	"query":   url.QueryEscape,
	"plural":  plural,
	"indent":  func(depth int) string { return fmt.Sprint("depth", min(max(depth-1, 0), 6)) },
	"svg":     func(f plot.Figure) template.HTML { return template.HTML(plot.Inline(f)) },
	"fact":    func(name string, of any) fact { return fact{name, of} },
}

// fact is a word with something that belongs to it, for templates that take two.
type fact struct {
	Name string
	Of   any
}

// exact writes a number with all its digits.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// data is a number with its exact value.
func data(value, text string) template.HTML {
	return template.HTML(`<data value="` + value + `">` + template.HTMLEscapeString(text) + `</data>`)
}

func percent(f float64) template.HTML { return data(exact(f), fmt.Sprintf("%.1f%%", 100*f)) }

// count writes a whole number in groups of three digits.
func count(n any) template.HTML {
	text := fmt.Sprint(n)
	digits, sign := strings.TrimPrefix(text, "-"), text[:len(text)-len(strings.TrimPrefix(text, "-"))]
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return data(text, sign+b.String())
}

// amount writes an amount of a unit with one digit at most.
func amount(f float64) template.HTML {
	return data(exact(f), strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0"))
}

// owed writes slot-seconds as hours of the unit, with their sign.
func owed(slotSeconds float64) template.HTML {
	text, hours := "0", slotSeconds/3600
	switch {
	case math.Abs(hours) < 0.005:
	case math.Abs(hours) < 10:
		text = fmt.Sprintf("%+.2f", hours)
	default:
		text = fmt.Sprintf("%+.1f", hours)
	}
	return data(exact(slotSeconds), text)
}

// span writes seconds as a time span.
func span(seconds float64) template.HTML {
	return data(exact(seconds), why.Duration(duration(seconds)))
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// ago says how long ago an instant was, with the instant itself for the pointer that rests on it.
func ago(t, now time.Time) template.HTML { return instant(t, why.Duration(now.Sub(t))) }

// clock writes an instant as short as it is clear now.
func clock(t, now time.Time) template.HTML { return instant(t, why.Clock(t, now)) }

func instant(t time.Time, text string) template.HTML {
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`,
		t.Format(time.RFC3339Nano), t.Local().Format("2006-01-02 15:04:05 MST"), template.HTMLEscapeString(text)))
}

// size writes a number of bytes as short as it can be told.
func size(n int64) string {
	const letters = "KMGTPE"
	if n < 1024 {
		return fmt.Sprint(n)
	}
	f, i := float64(n)/1024, 0
	for f >= 1000 && i < len(letters)-1 {
		f, i = f/1024, i+1
	}
	return fmt.Sprintf("%.3g%c", f, letters[i])
}

// lastOf is the last segment of the path of a pool.
func lastOf(path string) string {
	if path == "" {
		return "all"
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// plural counts things: 1 job, 2 jobs.
func plural(n any, thing string) string {
	if fmt.Sprint(n) == "1" {
		return "1 " + thing
	}
	return fmt.Sprint(n, " ", thing, "s")
}
