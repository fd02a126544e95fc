package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/why"
)

// TestPause: running tasks continue, waiting and new jobs stay, other pools get the free slots;
// the pause is shown, and ends by itself.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		loop, stop := again(t, store, twoPools(), 1)
		defer stop()
		enginetest.Submit(t, loop, fairlead.Job{Pool: "a", Name: "1h", Limit: 2 * time.Hour})
		synctest.Wait()
		if _, err := loop.Overrides.Pause(t.Context(),
			engine.Pause{Pool: "a", Until: time.Now().Add(6 * time.Hour), By: "alice",
				Reason: "new disks"}, "socket"); err != nil {
			t.Fatal(err)
		}
		enginetest.Submit(t, loop, fairlead.Job{Pool: "a", Name: "1h", Limit: 2 * time.Hour},
			fairlead.Job{Pool: "b", Name: "1h", Limit: 2 * time.Hour})
		synctest.Wait()
		if p := poolOf(t, loop, "a"); p.Paused == nil || p.Paused.By != "alice" || p.Tasks != 1 || p.Waiting != 1 {
			t.Errorf("paused: %+v", p)
		}
		until := loop.Overrides.Pauses()[0].Until
		a, err := forecast.New(loop).Why(t.Context(), 2, explain.WhyOptions{Estimate: true})
		if err != nil {
			t.Fatal(err)
		}
		if a.Start == nil || a.Start.By == nil || !a.Start.By.Equal(until) || a.Reason.Until == nil ||
			!a.Reason.Until.Equal(until) {
			t.Errorf("it starts %+v, want by the end of the pause at %v", a.Start, until)
		}
		if a.Reason.Code != why.GatePaused || a.Verdict != why.Limited ||
			!strings.HasSuffix(a.Reason.Text, ", by alice: new disks") || !strings.Contains(a.Reason.Next, "fairlead resume a") {
			t.Errorf("why: %s: %+v", a.Verdict, a.Reason)
		}
		short := explain.New(loop).ShortReasons(t.Context(), enginetest.Jobs(t, loop, 2))
		if short[2].Code != why.GatePaused || short[2].Rank != 0 {
			t.Errorf("in a list: %+v", short[2])
		}
		time.Sleep(2*time.Hour + time.Second)
		synctest.Wait()
		if jobs := enginetest.Jobs(t, loop, 1, 2, 3); jobs[0].State != fairlead.Succeeded ||
			jobs[1].State != fairlead.Waiting || jobs[2].State != fairlead.Succeeded {
			t.Errorf("after two hours: %s, %s, %s", jobs[0].State, jobs[1].State, jobs[2].State)
		}
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		if jobs := enginetest.Jobs(t, loop, 2); jobs[0].State != fairlead.Succeeded ||
			len(loop.Overrides.Pauses()) != 0 || poolOf(t, loop, "a").Paused != nil {
			t.Errorf("it did not end: %s, %+v", jobs[0].State, loop.Overrides.Pauses())
		}
		said := auditOf(t, store)
		if want := []string{"pause ended by alice from scheduler", "pause by alice from socket"}; !slices.Equal(said, want) {
			t.Errorf("record %q, want %q", said, want)
		}
		if settings := settingsOf(t, store); len(settings) != 0 {
			t.Errorf("settings left: %v", settings)
		}
	})
}

// TestPauseOutlivesRestart: a pause survives a restart, and a pause whose end passed while no loop ran ends afterwards.
func TestPauseOutlivesRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		loop, stop := again(t, store, twoPools(), 0)
		enginetest.Submit(t, loop, fairlead.Job{Pool: "a", Name: "1h"}, fairlead.Job{Pool: "b", Name: "1h"})
		for pool, until := range map[string]time.Time{"a": {}, "b": time.Now().Add(time.Hour)} {
			if _, err := loop.Overrides.Pause(t.Context(), engine.Pause{Pool: pool, Until: until}, ""); err != nil {
				t.Fatal(err)
			}
		}
		began := loop.Overrides.Pauses()[0].Began
		stop()
		time.Sleep(2 * time.Hour)
		second, stop := again(t, store, twoPools(), 1)
		defer stop()
		if all := second.Overrides.Pauses(); len(all) != 1 || all[0].Pool != "a" || !all[0].Began.Equal(began) {
			t.Errorf("after a restart %+v", all)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if jobs := enginetest.Jobs(t, second, 1, 2); jobs[0].State != fairlead.Waiting ||
			jobs[1].State != fairlead.Succeeded {
			t.Errorf("after a restart: %s, %s", jobs[0].State, jobs[1].State)
		}
		if settings := settingsOf(t, store); len(settings) != 1 {
			t.Errorf("settings left: %v", settings)
		}
		if _, err := second.Overrides.Pause(t.Context(), engine.Pause{Pool: "a", Reason: "still"}, ""); err != nil {
			t.Fatal(err)
		}
		if all := second.Overrides.Pauses(); !all[0].Began.Equal(began) || all[0].Reason != "still" {
			t.Errorf("paused again: %+v", all)
		}
		if p, err := second.Overrides.Resume(t.Context(), "a", "bob", ""); err != nil || p.Reason != "still" {
			t.Errorf("resumed: %+v, %v", p, err)
		}
		time.Sleep(2 * time.Hour)
		if jobs := enginetest.Jobs(t, second, 1); jobs[0].State != fairlead.Succeeded {
			t.Errorf("resumed: %s", jobs[0].State)
		}
	})
}

// TestPauseRefused: each refusal says what to do instead.
func TestPauseRefused(t *testing.T) {
	loop, err := newLoop(t.Context(), memory.New("cpu"), engine.LoopOptions{Shares: twoPools()})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		pause engine.Pause
		says  string
	}{
		"over":     {engine.Pause{Pool: "a", Until: time.Now().Add(-time.Hour)}, "has already ended"},
		"unknown":  {engine.Pause{Pool: "nobody"}, "nobody"},
		"the root": {engine.Pause{}, "fairlead drain NODE"},
		"long":     {engine.Pause{Pool: "a", Reason: strings.Repeat("x", 1000)}, "reason"},
	} {
		if _, err := loop.Overrides.Pause(t.Context(), c.pause, ""); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := loop.Overrides.Resume(t.Context(), "a", "", ""); !errors.Is(err, fairlead.ErrNotFound) ||
		!strings.Contains(err.Error(), "pause --list") {
		t.Errorf("resume what is not paused: %v", err)
	}
}

func auditOf(t *testing.T, store queue.Auditor) (said []string) {
	t.Helper()
	record, err := store.Audited(t.Context(), queue.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range record {
		said = append(said, e.What+" by "+e.Who+" from "+e.From)
	}
	return said
}
