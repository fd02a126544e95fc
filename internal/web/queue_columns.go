package web

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/words"
)

// columnFuncs are the functions of the templates that write a column of a list of jobs.
var columnFuncs = template.FuncMap{
	"column":       column,
	"capital":      func(word string) string { return strings.ToUpper(word[:1]) + word[1:] },
	"timeLeft":     timeLeft,
	"nodeExit":     func(t history.NodeTask) string { return words.ExitOf(t.Signal, t.ExitCode) },
	"exitOf":       func(j *api.Job) string { return words.Exit(j.LastEnd) },
	"exit":         exitWords,
	"ranFor":       ranFor,
	"ran":          func(from time.Time, to *time.Time) template.HTML { return span(to.Sub(from).Seconds()) },
	"processorUse": processorUse,
	"memoryUse":    memoryUse,
	"processorNow": processorNow,
	"memoryNow":    memoryNow,
	"errorOf":      words.ErrorOf,
	"list":         func(items ...string) []string { return items },
	"path":         url.PathEscape,
}

// exitWords says how the process of a failed task ended: exit status 3, SIGKILL.
func exitWords(t *api.Task) string {
	text := words.Exit(t)
	if text != "" && t.Signal == "" {
		return "exit status " + text
	}
	return text
}

// timeLeft writes how long a running job may still run by its time limit.
func timeLeft(j *api.Job, now time.Time) template.HTML {
	if j.RunsSince == nil || j.LimitSeconds == 0 {
		return data("", "–")
	}
	left := max(0, words.Seconds(j.LimitSeconds)-now.Sub(*j.RunsSince))
	return data(exact(left.Seconds()), words.Span(left))
}

// ranFor writes how long the last ended task of a job ran, or else the job.
func ranFor(j *api.Job) template.HTML {
	from, to := ranBetween(j)
	if from == nil || to == nil {
		return data("", "–")
	}
	ran := to.Sub(*from)
	return data(exact(ran.Seconds()), words.Span(ran))
}

// processorUse writes which part of its processors the task used, if the unit is a processor.
func processorUse(j *api.Job, unit string) template.HTML {
	t := j.LastEnd
	if t == nil || t.Ended == nil || t.Queued || unit != "cpu" {
		return data("", "–")
	}
	had := t.Ended.Sub(t.Started).Seconds() * float64(max(1, j.Request[unit]))
	if had < 1 { // the fraction of a moment means nothing
		return data("", "–")
	}
	return data(exact(t.CPUSeconds/had), words.Percent(t.CPUSeconds/had))
}

// memoryUse writes the peak memory of the task, and how much it asked for.
func memoryUse(j *api.Job) template.HTML {
	t := j.LastEnd
	if t == nil || t.MaxRSS == 0 {
		return data("", "–")
	}
	text := words.Size(t.MaxRSS)
	if asked := j.Request["mem"]; asked > 0 {
		text = fmt.Sprintf("%s of %s", text, words.Size(asked))
	}
	return data(strconv.FormatInt(t.MaxRSS, 10), text)
}

// processorNow writes which part of their processors the running tasks have used, as last measured.
func processorNow(j *api.Job) template.HTML {
	if j.Used == nil || words.Processors(j.Used, j.Request) == "" {
		return data("", "–")
	}
	return data(exact(words.PartOfProcessors(j.Used, j.Request)), words.Processors(j.Used, j.Request))
}

// memoryNow writes the memory that the running tasks use, as last measured, and how much they asked for.
func memoryNow(j *api.Job, now time.Time) template.HTML {
	if j.Used == nil {
		return data("", "–")
	}
	text := words.Memory(j.Used, j.Request)
	return data(strconv.FormatInt(j.Used.Memory, 10), text+", "+words.Clock(*j.Used.At, now))
}
