//go:build campaign

package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// trailOf is the trail of one job: for the marker of each submission, how often the job began and ended.
type trailOf map[string]*struct{ began, ended int }

// readTrail reads the file that the jobs wrote.
func (c *bridgeRun) readTrail() map[int64]trailOf {
	c.t.Helper()
	text, err := os.ReadFile(c.trail())
	if err != nil {
		c.t.Fatal(err)
	}
	all := map[int64]trailOf{}
	for _, w := range splitLines(string(text)) {
		if len(w) != 3 {
			c.t.Fatalf("the trail has the line %q", w)
		}
		id, err := strconv.ParseInt(w[1], 10, 64)
		if err != nil {
			c.t.Fatalf("the trail has the line %q", w)
		}
		if all[id] == nil {
			all[id] = trailOf{}
		}
		if all[id][w[2]] == nil {
			all[id][w[2]] = &struct{ began, ended int }{}
		}
		if w[0] == "b" {
			all[id][w[2]].began++
		} else {
			all[id][w[2]].ended++
		}
	}
	return all
}

// audit compares the trail of the jobs with the submissions. Lost: a job that the server acknowledged never
// ran, or has a wrong end. Submitted twice: a job ran under more markers than it had attempts. Run twice: a
// job ran under one marker more than once.
func (c *bridgeRun) audit() {
	c.t.Helper()
	trail := c.readTrail()
	var lost, submittedTwice, runTwice, reran, cancelled, retried, gaveUp int
	for id, what := range c.jobs {
		j := c.job(id)
		of := trail[id]
		delete(trail, id)
		tries, ends := 1, 0
		for marker, n := range of {
			ends += n.ended
			switch {
			case n.began > 1 && c.qs.reruns:
				reran++
			case n.began > 1:
				runTwice++
				c.t.Errorf("job %d ran %d times as %s", id, n.began, marker)
			}
		}
		want := "succeeded"
		switch what {
		case "fails once":
			tries, retried = 2, retried+1
		case "is canceled":
			cancelled++
			if want = j.Job.State; want != "succeeded" {
				want = "cancelled"
			}
		}
		if len(of) > tries {
			submittedTwice++
			c.t.Errorf("job %d, which %s, ran under %d markers: %v\n%s", id, what, len(of), of, c.said(id))
		}
		if len(of) == 0 && j.Job.State == "failed" && c.qs.failed != nil && c.qs.failed(j.Job.Cause) {
			gaveUp++ // the queueing system reports that it did not start the job
			continue
		}
		if j.Job.State != want || want == "succeeded" && (len(of) != tries || ends < tries) {
			lost++
			c.t.Errorf("job %d, which %s, is %s (%s) and ran %v\n%s", id, what, j.Job.State, j.Job.Cause, of, c.said(id))
		}
	}
	for id := range trail {
		c.t.Errorf("job %d ran, and nobody submitted it", id)
	}
	found, unsent := c.unanswered()
	fmt.Printf("figure: %d jobs (%d with a failure, %d cancelled) through %s, ended %v, in %v; of the submissions without an answer %d had arrived, %d not: lost %d, submitted twice %d, run twice %d, run again by the queueing system itself %d, not begun by it %d\n",
		len(c.jobs), retried, cancelled, c.qs.kind, c.kills, time.Since(c.began).Round(time.Second), found, unsent, lost, submittedTwice, runTwice, reran, gaveUp)
	if gaveUp > 1+len(c.jobs)/200 {
		c.t.Errorf("the queueing system is said to have failed %d jobs itself", gaveUp)
	}
	if len(c.jobs) < *bridgeKills || *bridgeKills >= 20 && found+unsent == 0 {
		c.t.Errorf("void: %d jobs in %d kills, of which %d were hit, are too few to say anything", len(c.jobs), *bridgeKills, found+unsent)
	}
}

// unanswered counts the submissions during which a bridge was killed. The next bridge logs for each submission whether
// it had arrived.
func (c *bridgeRun) unanswered() (found, unsent int) {
	c.t.Helper()
	log, err := os.ReadFile(c.bridge.log)
	if err != nil {
		c.t.Fatal(err)
	}
	return bytes.Count(log, []byte("found a submission whose reply was lost")), bytes.Count(log, []byte("a submission did not arrive"))
}

// said returns the server's history of a job.
func (c *bridgeRun) said(id int64) string {
	h, err := c.direct.Jobs.History(c.t.Context(), id, -1)
	if err != nil {
		return err.Error()
	}
	text := ""
	for _, e := range h.Events {
		text += fmt.Sprintf("  %s %s %s\n", e.At.Format("15:04:05.000"), e.Code, e.Text)
	}
	return text
}
