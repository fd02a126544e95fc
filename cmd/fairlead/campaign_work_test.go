//go:build campaign

package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	daemons "github.com/fairlead/fairlead/internal/daemon"
)

// The test compares shares over windows of at least the length "window"; this number of windows fits side by side into
// the time in which all users have work. It asks why for every waiting job, at "moments" instants.
const (
	windows = 6
	window  = 10 * time.Second
	moments = 10
)

// TestCampaignWork lets three users of the machine compress and hash the sources of Go, submitted as scripts
// with #SBATCH lines, and compares their usage with their weights. At random moments it asks why for every
// waiting job, and recomputes the answer.
func TestCampaignWork(t *testing.T) {
	if os.Getuid() != 0 {
		daemons.Skip(t, "only root can run jobs as three users")
	}
	dir := t.ArtifactDir()
	letPass(t, dir)
	all := people(t)
	for _, p := range all {
		p.jobs *= 25 * max(1, runtime.NumCPU()/2) // enough for about a minute
	}
	packages := copySources(t, filepath.Join(dir, "src"), ".")
	client := serveReal(t, dir, all)
	// Nothing starts before everything is submitted: otherwise, on a busy machine, the first user could be
	// done before the last one has submitted.
	drainAll(t, client, true)
	submitAll(t, dir, client.Address, all, packages)
	drainAll(t, client, false)
	backlogged := time.Now()
	asked, wrong := 0, 0
	for range moments {
		time.Sleep(time.Duration(1+rand.Float64()*6) * time.Second)
		a, w := askAll(t, client)
		asked, wrong = asked+a, wrong+w
	}
	t.Logf("figure: why and why --verify: %d answers at %d moments, %d disagree", asked, moments, wrong)
	if wrong > 0 || asked == 0 {
		t.Errorf("%d of %d answers could not be recomputed", wrong, asked)
	}
	untilIdle(t, client)
	compareShares(t, client, all, backlogged)
}

// allHadWork returns the end of the time in which every user had waiting jobs.
func allHadWork(jobs []api.Job) time.Time {
	last := map[string]time.Time{}
	for _, j := range jobs {
		if j.Started.After(last[j.User]) {
			last[j.User] = *j.Started
		}
	}
	return slices.MinFunc(slices.Collect(maps.Values(last)), time.Time.Compare)
}

// compareShares compares the usage in every window with the weights; the next window begins a tenth of a window later.
// On a busy machine jobs take longer, so the windows are longer, too, and contain the same number of jobs.
func compareShares(t *testing.T, client *api.Client, all []*person, from time.Time) {
	jobs := list(t, client, "succeeded", "failed", "cancelled")
	weights, worst := 0.0, 0.0
	var shortest, longest time.Duration = math.MaxInt64, 0
	for _, p := range all {
		weights += p.weight
	}
	for _, j := range jobs {
		if j.State != "succeeded" {
			t.Fatalf("job %d of %s is %s: %s", j.ID, j.User, j.State, j.Cause)
		}
		shortest, longest = min(shortest, j.Ended.Sub(*j.Started)), max(longest, j.Ended.Sub(*j.Started))
	}
	to := allHadWork(jobs)
	length := max(window, to.Sub(from)/windows)
	t.Logf("all had work for %v", to.Sub(from).Round(time.Second))
	n := 0
	for at := from; !at.Add(length).After(to); at = at.Add(length / 10) {
		n++
		got := parts(jobs, at, at.Add(length))
		line := ""
		for _, p := range all {
			share, right := got[p.name], p.weight/weights
			worst = max(worst, math.Abs(share-right))
			line += fmt.Sprintf("  %s %.1f%% of %.1f%%", p.name, 100*share, 100*right)
		}
		t.Logf("window %2d:%s", n, line)
	}
	t.Logf("figure: %d jobs of %v to %v; largest distance from the weights in %d windows of %v: %.1f points", len(jobs), shortest.Round(time.Millisecond), longest.Round(time.Millisecond), n, length.Round(time.Second), 100*worst)
	if worst > 0.05 || n < 5 {
		t.Errorf("shares are off by %.1f points in %d windows; they have to stay within 5", 100*worst, n)
	}
}

// parts returns the fraction of all slot time that each user had between two instants.
func parts(jobs []api.Job, from, to time.Time) map[string]float64 {
	got, total := map[string]float64{}, 0.0
	for _, j := range jobs {
		d := overlap(*j.Started, *j.Ended, from, to)
		got[j.User] += d
		total += d
	}
	for user := range got {
		got[user] /= total
	}
	return got
}

func overlap(a, b, from, to time.Time) float64 {
	if a.Before(from) {
		a = from
	}
	if b.After(to) {
		b = to
	}
	return max(0, b.Sub(a).Seconds())
}
