package engine_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// lacks is a node on which everything begins except jobs that name something missing.
func lacks(l *fairlead.Lease) queue.Refusal {
	if strings.HasPrefix(l.Job.Name, "missing ") || strings.HasPrefix(l.Job.Name, "lost ") {
		return queue.RefusedJob
	}
	return ""
}

// typo is a job whose command is missing everywhere.
func typo(command string) func(*fairlead.Job) {
	return func(j *fairlead.Job) { j.Name, j.Argv = "missing "+command, []string{command} }
}

// noFaults checks that the server drained no node and shows none as failing.
func (s *refusers) noFaults() {
	s.t.Helper()
	for _, n := range views.Nodes(s.Loop) {
		if n.SetAside || n.Fault != nil {
			s.t.Errorf("%s: drained %v (%s), fault %+v", n.Name, n.Drained, n.Why, n.Fault)
		}
	}
}

// TestMistypedCommandsFailAtOnce: a command that a proven node does not find fails there, though the other nodes are
// busy and could be tried later. It counts against no node, whoever mistypes.
func TestMistypedCommandsFailAtOnce(t *testing.T) {
	inSite(t, func(s *refusers) {
		node := s.join("n1", 1, lacks)
		s.submit("eve")
		time.Sleep(time.Minute)
		s.join("n2", 1, lacks)
		if err := s.Overrides.SetDrained(s.ctx, "n2", &engine.Drain{Reason: "busy"}, "", ""); err != nil {
			t.Fatal(err)
		}
		before, _ := node.counts()
		for _, user := range []string{"ann", "bob", "cem", "dan"} {
			id := s.submit(user, typo("pyhton-"+user))
			time.Sleep(2 * time.Second)
			j := s.ends(id, fairlead.Failed)
			if want := "command not found: pyhton-" + user; j.Cause != want {
				t.Errorf("cause %q, want %q", j.Cause, want)
			}
			tasks, err := s.Client().Tasks(s.ctx, id)
			if err != nil || len(tasks) != 1 || tasks[0].Outcome.ExitCode != 127 || tasks[0].Outcome.NotFound {
				t.Errorf("tasks %+v, %v", tasks, err)
			}
		}
		if given, _ := node.counts(); given != before+4 {
			t.Errorf("the node was given %d tasks for 4 jobs", given-before)
		}
		s.noFaults()
	})
}

// TestLongTasksProveTheirNode: a node is in order if one of its tasks has just succeeded, however long ago it began.
func TestLongTasksProveTheirNode(t *testing.T) {
	inSite(t, func(s *refusers) {
		node := s.join("n1", 1, lacks)
		node.lasts = 3 * time.Hour
		s.submit("eve")
		time.Sleep(time.Minute)
		s.join("n2", 1, lacks)
		if err := s.Overrides.SetDrained(s.ctx, "n2", &engine.Drain{Reason: "busy"}, "", ""); err != nil {
			t.Fatal(err)
		}
		id := s.submit("ann", typo("pyhton"))
		time.Sleep(7 * time.Hour)
		s.ends(id, fairlead.Failed)
	})
}

// TestMistypedCommandsOnNewNodes: where nothing has begun yet, a second node decides.
func TestMistypedCommandsOnNewNodes(t *testing.T) {
	inSite(t, func(s *refusers) {
		for n := range 4 {
			s.join(fmt.Sprint("n", n), 1, lacks)
		}
		for _, user := range []string{"ann", "bob", "cem", "dan"} {
			id := s.submit(user, typo("pyhton-"+user))
			time.Sleep(5 * time.Second)
			if j := s.ends(id, fairlead.Failed); !strings.HasPrefix(j.Cause, "command not found: pyhton-"+user+", on n") {
				t.Errorf("cause %q", j.Cause)
			}
		}
		s.noFaults()
	})
}

// TestCommandsThatOneNodeLacks: a command that other nodes have is no mistake of the job, which runs there.
func TestCommandsThatOneNodeLacks(t *testing.T) {
	inSite(t, func(s *refusers) {
		hasTool := s.join("n2", 1, always(""))
		s.submit("ann", typo("tool"))
		time.Sleep(time.Minute)
		bare := s.join("n1", 1, lacks)
		for range 2 {
			s.submit("eve", func(j *fairlead.Job) { j.Array = "0-3" })
		}
		time.Sleep(time.Minute)
		if _, begun := bare.counts(); begun == 0 {
			t.Fatal("n1 has begun nothing")
		}
		id := s.submit("ann", typo("tool"), func(j *fairlead.Job) { j.Array = "0-3" })
		time.Sleep(time.Minute)
		s.ends(id, fairlead.Succeeded)
		if _, begun := hasTool.counts(); begun < 5 {
			t.Errorf("n2 began %d tasks", begun)
		}
	})
}

// TestLostFileSystem: a node that loses the file system of all jobs fails none of them, even if it was in order just
// before, and is drained. The same holds for two such nodes.
func TestLostFileSystem(t *testing.T) {
	for broken := 1; broken <= 2; broken++ {
		inSite(t, func(s *refusers) {
			var lost atomic.Bool
			for n := range broken {
				s.join(fmt.Sprint("bad", n), 2, func(l *fairlead.Lease) queue.Refusal {
					if lost.Load() {
						return queue.RefusedJob
					}
					return ""
				})
			}
			s.join("good", 2, always(""))
			var ids []int64
			submit := func(n int) {
				user := []string{"ann", "bob", "cem", "dan", "eve"}[n%5]
				ids = append(ids, s.submit(user, func(j *fairlead.Job) { j.Name = fmt.Sprintf("lost /shared/%s/%d", user, n) }))
			}
			for n := range 40 {
				submit(n)
			}
			time.Sleep(2 * time.Second)
			lost.Store(true)
			for n := range 40 {
				submit(40 + n)
			}
			time.Sleep(10 * time.Minute)
			for n := range 10 { // one after the other
				submit(80 + n)
				time.Sleep(10 * time.Second)
			}
			failed := 0
			for _, id := range ids {
				if j, err := s.Client().Job(s.ctx, id); err != nil || j.State != fairlead.Succeeded {
					failed++
				}
			}
			if failed >= broken {
				t.Errorf("%d of 90 jobs failed because of %d broken nodes", failed, broken)
			}
			for n := range broken {
				if why := s.drained(fmt.Sprint("bad", n)); !strings.Contains(why, "of 3 users; the last error: no such directory: /shared") {
					t.Errorf("bad%d is drained: %q", n, why)
				}
			}
		})
	}
}

// TestOnlyNodeLosesItsFileSystem: the only node fails the jobs of three users, and then the others wait for its repair.
func TestOnlyNodeLosesItsFileSystem(t *testing.T) {
	inSite(t, func(s *refusers) {
		s.join("n1", 1, always(queue.RefusedJob))
		for n := range 40 {
			user := fmt.Sprint("user", n)
			s.submit(user, func(j *fairlead.Job) { j.Name = fmt.Sprintf("lost /shared/%s", user) })
		}
		if why := s.drained("n1"); !strings.Contains(why, "of 3 users; the last error: no such directory: /shared") {
			t.Errorf("the node is drained: %q", why)
		}
		if _, waiting := s.Running(); waiting != 37 {
			t.Errorf("%d of 40 jobs wait", waiting)
		}
	})
}

// TestTwoLostNodesFailOneJob: two nodes in order lose their file system. They fail at most the first job, which looks
// like a mistake, and not the ones that follow.
func TestTwoLostNodesFailOneJob(t *testing.T) {
	inSite(t, func(s *refusers) {
		var lost atomic.Bool
		for n := range 2 {
			s.join(fmt.Sprint("bad", n), 1, func(l *fairlead.Lease) queue.Refusal {
				if lost.Load() && l.Job.Name != "" {
					return queue.RefusedJob
				}
				return ""
			})
		}
		s.submit("ann", func(j *fairlead.Job) { j.Array = "0-9" })
		time.Sleep(time.Minute)
		lost.Store(true)
		s.join("good", 1, always(""))
		if err := s.Overrides.SetDrained(s.ctx, "good", &engine.Drain{Reason: "later"}, "", ""); err != nil {
			t.Fatal(err)
		}
		var ids []int64
		for _, user := range []string{"ann", "ann", "bob", "bob"} {
			ids = append(ids, s.submit(user, func(j *fairlead.Job) { j.Name = "lost /shared/" + fmt.Sprint(len(ids)) }))
			time.Sleep(10 * time.Second)
		}
		s.ends(ids[0], fairlead.Failed)
		for _, id := range ids[1:] {
			s.ends(id, fairlead.Waiting)
		}
	})
}
