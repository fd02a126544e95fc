//go:build real

package slurm_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/slurm"
	"github.com/fairlead/fairlead/internal/slurmtest"
	"github.com/fairlead/fairlead/queue"
)

// reaches waits until an entry is in one of some phases.
func reaches(t *testing.T, q bridge.QS, e bridge.Entry, want ...bridge.Phase) (found bridge.Status) {
	t.Helper()
	await.Until(t, fmt.Sprintf("%s is in one of the phases %v", e.Marker, want), func() (any, bool) {
		got, err := q.Look(t.Context(), []bridge.Entry{e})
		if err != nil {
			return err, false
		}
		found = got[0]
		return found, slices.Contains(want, found.Phase)
	})
	return found
}

// put submits one job.
func put(t *testing.T, q bridge.QS, marker string, priority int64, j queue.Job) (bridge.Entry, error) {
	t.Helper()
	e := bridge.Entry{Marker: marker, Submitted: time.Now()}
	got, err := q.Submit(t.Context(), []bridge.Submission{
		{Marker: marker, Priority: priority, Job: &j, Ref: queue.Ref{JobID: 5, Attempt: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.ID = got[0].ID
	return e, got[0].Err
}

// TestRealLife checks that a job runs as its user, whatever its script says, and that its use is reported. It
// also checks that Slurm requeues a job, refuses one, and is away.
func TestRealLife(t *testing.T) {
	t.Parallel()
	s := slurmtest.Start(t, slurmtest.Options{Conf: map[string]string{"MessageTimeout": "3"}})
	s.Accounts(t, map[string][]string{"physics": {"games", "lp"}})
	dir := s.Dir(t, "work")
	q := open(t, slurm.Options{Conf: s.Conf, Account: "{top}"})
	defer q.Close()
	script := "#!/bin/sh\n#SBATCH --uid=0 --gid=0 --array=0-9 --export-file=/etc/shadow\n#SBATCH --job-name=evil\nid " +
		"-un; id -gn; echo \"$1\"; echo \"$SLURM_JOB_ACCOUNT $SLURM_CPUS_PER_TASK $SLURM_JOB_PARTITION\"\n" +
		"i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done\n"
	e, err := put(
		t, q, "script", 1000, queue.Job{User: "games", Pool: "physics/env", Script: true, Payload: []byte(script),
			Argv: []string{"s", "it's"}, Dir: dir,
			Output: "said-%j", Request: queue.Amounts{"cpu": 2, "mem": 100 << 20, "gpu": 1},
			Licenses: queue.Amounts{"matlab": 2}})
	if err != nil {
		t.Fatal(err)
	}
	x := reaches(t, q, e, bridge.Succeeded)
	said, _ := os.ReadFile(filepath.Join(dir, "said-0"))
	if got := string(said); got != "games\ngames\nit's\nphysics 2 batch\n" {
		t.Errorf("it says %q", got)
	}
	if u := x.Used; u == nil || u.Resources["cpu"] != 2 || u.Resources["gpu"] != 1 || u.Resources["matlab"] != 2 ||
		u.CPUSeconds <= 0 || u.CPUSeconds > 60 {
		t.Errorf("it used %+v", u)
	}
	if _, err := put(
		t, q, "refused", 1000,
		queue.Job{
			User: "games", Pool: "physics", Argv: []string{"true"}, Dir: dir, Request: queue.Amounts{"cpu": 1, "gpu:none": 1},
		}); !errors.Is(err, queue.ErrInvalid) {
		t.Errorf("for what Slurm has not: %v", err)
	}
	requeued(t, s, q, dir)
	away(t, s, q, dir)
}

// requeued checks that a job that Slurm requeues waits again under the same number.
func requeued(t *testing.T, s *slurmtest.Slurm, q bridge.QS, dir string) {
	e, err := put(t, q, "requeued", 1000, queue.Job{
		User: "lp", Pool: "physics", Argv: []string{"sleep", "600"}, Dir: dir, Output: "/dev/null",
	})
	if err != nil {
		t.Fatal(err)
	}
	reaches(t, q, e, bridge.Running)
	s.Do(t, "scontrol", "requeue", e.ID)
	if x := reaches(t, q, e, bridge.Pending); !strings.HasPrefix(x.Says, "PENDING") || x.ID != e.ID {
		t.Errorf("put back: %+v", x)
	}
	if err := q.Cancel(t.Context(), []bridge.Entry{e}); err != nil {
		t.Fatal(err)
	}
	if x := reaches(t, q, e, bridge.Cancelled); x.Used != nil && x.Used.Seconds > 60 {
		t.Errorf("cancelled: %+v", x)
	}
}

// away checks that no job fails because slurmctld does not answer, and that the bridge can follow a job
// without slurmdbd. A job that slurmctld had not saved when it was killed is absent.
func away(t *testing.T, s *slurmtest.Slurm, q bridge.QS, dir string) {
	job := queue.Job{User: "lp", Pool: "physics", Argv: []string{"sleep", "1"}, Dir: dir, Output: "/dev/null"}
	await.True(t, "slurmctld has saved what it knows of slurmdbd", func() bool {
		s.Restart(t, slurmtest.Controller)
		return s.Saved("last_tres", "cpu")
	})
	long := job
	long.Argv = []string{"sleep", "10"} // it runs while slurmctld is away
	e, err := put(t, q, "away", 1000, long)
	if err != nil {
		t.Fatal(err)
	}
	await.True(t, "slurmctld has saved the job", func() bool { return s.Saved("job_state", "away") })
	s.Stop(slurmtest.Controller)
	if got, err := q.Look(t.Context(), []bridge.Entry{e}); err == nil {
		t.Errorf("slurmctld is away, and we see %+v", got)
	}
	if _, err := put(t, q, "unsent", 1000, job); err == nil || errors.Is(err, queue.ErrInvalid) ||
		errors.Is(err, bridge.ErrUnsure) {
		t.Errorf("slurmctld is away: %v", err)
	}
	s.Kill(slurmtest.Accounting)
	s.Restart(t, slurmtest.Controller)
	if x := reaches(t, q, e, bridge.Succeeded); x.ID != e.ID {
		t.Errorf("without slurmdbd: %+v", x)
	}
	if err := s.Run(slurmtest.Accounting); err != nil {
		t.Fatal(err)
	}
	lost, err := put(t, q, "lost", 1000, job)
	if err != nil {
		t.Fatal(err)
	}
	s.Kill(slurmtest.Controller)
	s.Restart(t, slurmtest.Controller)
	reaches(t, q, lost, bridge.Absent, bridge.Succeeded) // Slurm may have saved it in time
}

// TestRealPrivileges checks that Slurm ignores the priorities of a plain user, and that Describe says so
// before and after a submission. Slurm obeys the priorities of an operator and does not age them.
func TestRealPrivileges(t *testing.T) {
	t.Parallel()
	s := slurmtest.Start(t, slurmtest.Options{
		REST: true, Conf: map[string]string{"PriorityWeightAge": "1000", "PriorityMaxAge": "1:00"},
	})
	s.Accounts(t, map[string][]string{"physics": {"games", "man"}})
	s.Do(t, "sacctmgr", "-i", "modify", "user", "games", "set", "adminlevel=Operator")
	url, _ := s.REST(t)
	for _, test := range []struct {
		user  string
		obeys frontback.Answer
	}{{"games", frontback.Yes}, {"man", frontback.No}} {
		token := s.Token(t, test.user)
		q := open(t, slurm.Options{
			Output: "/dev/null", REST: &slurm.REST{
				URL: url, User: test.user, Token: func() (string, error) { return token, nil },
			},
		})
		defer q.Close()
		if d, err := q.Describe(t.Context()); err != nil || d.Obeys != test.obeys {
			t.Errorf("%s: got %+v, %v", test.user, d, err)
		}
		e, err := put(t, q, "p-"+test.user, 123456, queue.Job{
			User: test.user, Argv: []string{"true"}, Dir: "/", Output: "/dev/null",
		})
		if err != nil {
			t.Fatal(err)
		}
		reaches(t, q, e, bridge.Succeeded)
		d, err := q.Describe(t.Context())
		text := fmt.Sprint(d.Found)
		if err != nil || d.Obeys != test.obeys || strings.Contains(text, "adminlevel=Operator") != (test.user == "man") {
			t.Errorf("%s, after a job: got %+v, %v", test.user, d, err)
		}
	}
}
