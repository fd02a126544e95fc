package web

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

// funcs holds the functions of the templates. They use the words of the command line. Numbers are in a data
// element, whose value is the exact number.
var funcs = template.FuncMap{
	"asset":     assetPath,
	"percent":   func(f float64) template.HTML { return data(exact(f), words.Percent(f)) },
	"count":     count,
	"units":     func(f float64) template.HTML { return data(exact(f), words.OneDigit(f)) },
	"hours":     func(seconds float64) template.HTML { return data(exact(seconds), fmt.Sprintf("%.2f", seconds/3600)) },
	"owed":      func(slotSeconds float64) template.HTML { return data(exact(slotSeconds), words.Owed(slotSeconds)) },
	"span":      span,
	"length":    length,
	"ago":       ago,
	"period":    timeCovered,
	"clock":     clock,
	"hour":      func(t time.Time) string { return t.Local().Format("15:04") },
	"asof":      asOf,
	"last":      lastOf,
	"compared":  words.ComparedBy,
	"called":    words.Pool,
	"escaped":   words.Escaped,
	"shellPool": words.ShellPool,
	"short":     why.Short,
	"plural":    plural,
	"join":      strings.Join,
	"indent":    func(depth int) string { return fmt.Sprint("depth", min(max(depth-1, 0), 6)) },
	"svg":       func(f plot.Figure) template.HTML { return template.HTML(plot.Inline(f)) },
	"fact":      func(name string, of any) fact { return fact{name, of} },
	"figure":    figure,
	"peak": func(bytes int64, request map[string]int64) template.HTML {
		return data(strconv.FormatInt(bytes, 10), words.PeakMemory(bytes, request))
	},
	"size":       func(bytes int64) template.HTML { return data(strconv.FormatInt(bytes, 10), words.Size(bytes)) },
	"amounts":    func(a map[string]int64) string { return words.Amounts(a, "") },
	"limit":      func(seconds float64) template.HTML { return data(exact(seconds), words.Limit(seconds)) },
	"plain":      plain.Text,
	"jobID":      words.JobID,
	"unitsOf":    unitsOf,
	"waitingFor": words.WaitingFor,
	"byClock":    func(text string) string { return instant.ByClock(text, time.Now()) },
	"weight":     words.Weight,
	"paused":     words.Paused,
	"pauseAgain": words.PauseAgain,
	"pauseRest":  words.PauseRest,
	"int64":      func(n int) int64 { return int64(n) },
	"kept":       func(nodes []string) string { return strings.Join(nodes, ", ") },
}

// fact pairs a word with a value, for templates that take two arguments.
type fact struct {
	Name string
	Of   any
}

// phone is the width of a picture on a phone.
const phone = 330.0

// figure returns a picture twice: for a screen and for a phone, where text must keep its size. One of them is
// visible.
func figure(f plot.Figure) template.HTML {
	return template.HTML(`<div class="figure wide">` + plot.Inline(f) + `</div><div class="figure phone">` +
		plot.Inline(f.At(phone)) + `</div>`)
}

// exact writes a number with all its digits.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// data returns a text with its exact value.
func data(value, text string) template.HTML {
	return template.HTML(`<data value="` + template.HTMLEscapeString(value) + `">` + template.HTMLEscapeString(text) +
		`</data>`)
}

// grouped returns a whole number in groups of three digits.
func grouped(n any) string {
	text := fmt.Sprint(n)
	digits := strings.TrimPrefix(text, "-")
	var b strings.Builder
	b.WriteString(text[:len(text)-len(digits)])
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// count writes a whole number in groups of three digits.
func count(n any) template.HTML { return data(fmt.Sprint(n), grouped(n)) }

// jobsIn counts jobs in a text: 1 job, 2,000 jobs.
func jobsIn(n int) string {
	if n == 1 {
		return "1 job"
	}
	return grouped(n) + " jobs"
}

// unitsOf writes the amount of the unit that a task of a job asks for, and the number of tasks of a gang.
func unitsOf(j *api.Job, unit string) template.HTML {
	text := data(strconv.FormatInt(max(1, j.Request[unit]), 10), words.Units(j, unit))
	if j.Gang > 1 {
		text += data(strconv.Itoa(j.Gang), "")
	}
	return text
}

// span writes seconds as a time span.
func span(seconds float64) template.HTML {
	return data(exact(seconds), words.Span(words.Seconds(seconds)))
}

// length writes seconds as the pictures and the reports do: rounded, not cut.
func length(seconds float64) template.HTML { return data(exact(seconds), plot.Duration(seconds)) }

// ago writes the time since an instant, with the instant as a tooltip.
func ago(t, now time.Time) template.HTML { return timeElement(t, words.Span(now.Sub(t))) }

// clock writes an instant as short as is clear now.
func clock(t, now time.Time) template.HTML { return timeElement(t, instant.Clock(t, now)) }

func timeElement(t time.Time, text string) template.HTML {
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`,
		t.Format(time.RFC3339Nano), t.Local().Format("2006-01-02 15:04:05 MST"), template.HTMLEscapeString(text)))
}

// asOf writes the instant of the values of a page, with the attributes that the script needs to write a later
// instant in the server's time zone.
func asOf(t time.Time) template.HTML {
	t = t.Local()
	zone, offset := t.Zone()
	return template.HTML(fmt.Sprintf(`<time id="as-of" datetime="%s" data-zone="%s" data-offset="%d">%s</time>`,
		t.UTC().Format(time.RFC3339), template.HTMLEscapeString(zone), offset, t.Format("2006-01-02 15:04:05 MST")))
}

// lastOf returns the last segment of the path of a pool.
func lastOf(path string) string {
	if path == "" {
		return "all"
	}
	return words.LastPool(path)
}

// plural counts things: 1 job, 2 jobs.
func plural(n any, thing string) template.HTML {
	if fmt.Sprint(n) == "1" {
		return count(n) + template.HTML(" "+thing)
	}
	return count(n) + template.HTML(" "+thing+"s")
}

// timeCovered names the time that the account of the last day covers, which is less than a day if the server
// started since.
func timeCovered(seconds float64) string {
	if seconds >= 24*3600-1 {
		return "24h"
	}
	return words.Span(words.Seconds(seconds))
}
