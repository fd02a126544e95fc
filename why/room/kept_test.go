package room_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/why/room"
)

// TestTexts: a promised start has a time; a predicted start is marked, and has no latest time.
func TestTexts(t *testing.T) {
	at := func(minutes int) time.Time { return time.Date(2026, 11, 22, 21, minutes, 0, 0, time.Local) }
	now, since, held := at(0), at(1), at(30)
	nodes := []string{"n1", "n2"}
	for _, c := range []struct {
		kept               room.Kept
		text, begins, ends string
	}{
		{room.Kept{Nodes: nodes, From: at(10), To: at(20)},
			"is kept for it on n1, n2 from 21:10", "21:10", "21:20 at the latest"},
		{room.Kept{Nodes: nodes, From: at(10), To: at(20), Unlimited: true, Since: &since},
			"is kept for it on n1, n2 from 21:10; it has been kept since 21:01:00", "21:10", "about 21:20"},
		{room.Kept{Nodes: nodes, From: at(10), To: at(20), Held: true, Since: &since, Owed: true},
			"is held for it on n1, n2: it starts when the tasks there have ended, by 21:10; at 21:01:00 a job of its pool " +
				"went first but had no room; the room is held until the pool has received its share since then", "21:10",
			"21:20 at the latest"},
		{room.Kept{Nodes: nodes, From: at(10), To: at(20), Predicted: true, HeldFrom: &held, Endless: []int64{7}},
			"is kept for it on n1, n2 from about 21:10; that is predicted from tasks like the running ones, and no latest " +
				"start is known while tasks without a time limit run there (job 7); if it still waits after 21:30, nodes are " +
				"held for it", "about 21:10", "about 21:20"},
		{room.Kept{Nodes: nodes, From: at(10), To: at(20), Predicted: true, Overdue: true, HeldFrom: &since,
			Endless: []int64{7, 8}},
			"is kept for it on n1, n2 from the end of the tasks that run there; they have run for longer than predicted, and " +
				"no latest start is known while tasks without a time limit run there (jobs 7, 8); if it still waits after " +
				"21:01:00, nodes are held for it", "the end of the tasks that run there", "its end"},
		{room.Kept{Nodes: nodes, From: at(10), To: at(20), First: true, Since: &since, MayMove: true, Expected: &held},
			"is kept for it on n1, n2 from 21:10; it has been kept since 21:01:00; other jobs are expected to get ahead of " +
				"it, so it is expected to start by 21:30", "21:10", "21:20 at the latest"},
		{room.Kept{Nodes: nodes, From: at(10), To: at(20), Held: true, Since: &since, Owed: true, Expected: &held},
			"is held for it on n1, n2; at 21:01:00 a job of its pool went first but had no room; the room is held until " +
				"the pool has received its share since then; the pool is expected to receive it before the tasks there " +
				"have ended, and the " +
				"job is expected to start by 21:30", "21:10", "21:20 at the latest"},
		{room.Kept{Nodes: nodes, From: at(10), To: at(20), MayMove: true},
			"is planned for it on n1, n2 in the present order of the jobs, which changes as tasks run", "about 21:10",
			"21:20 at the latest"},
		{room.Kept{Nodes: nodes, From: at(10), To: at(20), First: true, Since: &since, MayMove: true, Expected: &held,
			Predicted: true},
			"is kept for it on n1, n2 from about 21:10; it has been kept since 21:01:00; that is predicted from tasks like " +
				"the running ones; with recent run times, it is expected to start at about 21:30", "about 21:10", "about 21:20"},
		{room.Kept{Nodes: nodes, From: at(10), To: at(20), Held: true},
			"is held for it on n1, n2: it starts when the tasks there have ended, by 21:10", "21:10", "21:20 at the latest"},
		{room.Kept{From: at(10), To: at(20), Held: true, Predicted: true},
			"is not held yet; the licenses that it lacks are held from about 21:10; that is predicted from tasks like the " +
				"running ones", "about 21:10", "about 21:20"},
	} {
		if got := c.kept.Text(now); got != c.text {
			t.Errorf("the text is\n%s\nwant\n%s", got, c.text)
		}
		if got := c.kept.Begins(now); got != c.begins {
			t.Errorf("it begins %q, want %q", got, c.begins)
		}
		if got := c.kept.Ends(now); got != c.ends {
			t.Errorf("it ends %q, want %q", got, c.ends)
		}
	}
}

// TestChecksThatAreNotMade: without evidence, and while tasks are late, nothing is recomputed.
func TestChecksThatAreNotMade(t *testing.T) {
	for _, k := range []room.Kept{{}, {Overdue: true, Plan: &room.Plan{}}} {
		if text, err := k.Check(); err != nil || !strings.HasPrefix(text, "not recomputed: ") {
			t.Errorf("%q, %v", text, err)
		}
	}
}
