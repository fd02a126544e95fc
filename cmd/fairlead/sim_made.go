package main

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/sim/swf"
	"github.com/fairlead/fairlead/internal/sim/workload"
)

// made describes a generated workload.
type made struct {
	Version     int     `json:"version"`
	File        string  `json:"file"`
	Command     string  `json:"command"`
	Jobs        int     `json:"jobs"`
	Procs       int     `json:"procs"`
	Users       int     `json:"users"`
	SpanSeconds int64   `json:"span_seconds"` // of the submissions
	Area        float64 `json:"processor_seconds"`
	Load        float64 `json:"load"` // 0 if all jobs are submitted at once
	Serial      float64 `json:"serial"`
	PowersOfTwo float64 `json:"powers_of_two"`
	Interactive float64 `json:"interactive"`
	longest     int64
}

func summarize(jobs []workload.Job, procs int) *made {
	m := &made{Version: api.Version, Jobs: len(jobs), Procs: procs, Area: workload.Area(jobs)}
	users := map[int]bool{}
	var serial, powers, interactive int
	for _, j := range jobs {
		users[j.User] = true
		m.SpanSeconds, m.longest = max(m.SpanSeconds, j.Submit), max(m.longest, j.Estimate)
		switch {
		case j.Procs == 1:
			serial++
		case bits.OnesCount(uint(j.Procs)) == 1:
			powers++
		}
		if j.Interactive {
			interactive++
		}
	}
	all := float64(max(len(jobs), 1))
	m.Users, m.Serial, m.PowersOfTwo, m.Interactive = len(users), float64(serial)/all, float64(powers)/all, float64(interactive)/all
	if m.SpanSeconds > 0 {
		m.Load = m.Area / (float64(procs) * float64(m.SpanSeconds))
	}
	return m
}

func (m *made) String() string {
	text := fmt.Sprintf("%s: %s jobs of %d users on %d processors", m.File, thousands(float64(m.Jobs)), m.Users, m.Procs)
	if m.SpanSeconds == 0 {
		busy := time.Duration(m.Area / float64(m.Procs) * float64(time.Second))
		return text + fmt.Sprintf(", all submitted at once, %s of work", span(busy))
	}
	return text + fmt.Sprintf(" in %s, load %.3f, %.1f%% serial, %.1f%% powers of two",
		span(time.Duration(m.SpanSeconds)*time.Second), m.Load, 100*m.Serial, 100*m.PowersOfTwo)
}

// header returns the comments of the file. They do not depend on time or place, so that the same command
// makes the same bytes.
func (m *made) header() []string {
	return []string{
		"Version: 2.2",
		"Computer: none, this is made up",
		"Note: made by " + m.Command,
		fmt.Sprintf("MaxJobs: %d", m.Jobs),
		fmt.Sprintf("MaxRecords: %d", m.Jobs),
		"UnixStartTime: 0",
		"TimeZoneString: UTC",
		fmt.Sprintf("MaxNodes: %d", m.Procs),
		fmt.Sprintf("MaxProcs: %d", m.Procs),
		fmt.Sprintf("MaxRuntime: %d", m.longest),
	}
}

// records returns the lines of the file: job numbers begin with 1, and values that only a real machine could
// give are unknown.
func records(jobs []workload.Job) []swf.Record {
	lines := make([]swf.Record, len(jobs))
	for i, j := range jobs {
		queue := int32(1)
		if j.Interactive {
			queue = 0
		}
		lines[i] = swf.Record{
			Job: int64(i + 1), Submit: j.Submit, Run: j.Run, Estimate: j.Estimate, Used: int32(j.Procs), Requested: int32(j.Procs),
			Status: swf.Completed, User: int32(j.User), Queue: queue, Wait: swf.Unknown, CPU: swf.Unknown, Memory: swf.Unknown,
			ReqMemory: swf.Unknown, Group: swf.Unknown, App: swf.Unknown, Partition: swf.Unknown, After: swf.Unknown, Think: swf.Unknown,
		}
	}
	return lines
}

// commaSeparated writes numbers with commas between them.
func commaSeparated(list []float64) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = fmt.Sprint(x)
	}
	return strings.Join(words, ",")
}
