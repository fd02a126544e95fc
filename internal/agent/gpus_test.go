package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/gpu"
)

// madeUp returns options with three invented GPUs of two types.
func madeUp() agent.Options {
	return agent.Options{GPUs: []gpu.Device{{ID: "0", Type: "a100"}, {ID: "3", Type: "a100"}, {ID: "5", Type: "h100"}}}
}

// asking returns a job that requests GPUs and runs a script.
func asking(script string, request map[string]int64) api.Spec {
	s := shell(script)
	s.Request = request
	return s
}

// TestGPUsAreHandedOut checks that no two tasks have the same GPU at once: each of many tasks makes a
// directory for each of its GPUs, which fails if the directory exists. A task that requests no GPU sees none,
// whatever variables its job sets.
func TestGPUsAreHandedOut(t *testing.T) {
	r := newRig(t, time.Minute, madeUp())
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	script := `[ "$CUDA_VISIBLE_DEVICES" = "$FAIRLEAD_GPUS" ] || exit 8
		for g in $(echo $FAIRLEAD_GPUS | tr , ' '); do mkdir ` + dir + `/$g || exit 9; done
		for g in $(echo $FAIRLEAD_GPUS | tr , ' '); do rmdir ` + dir + `/$g; done; echo $FAIRLEAD_GPUS`
	var jobs []int64
	for _, request := range []map[string]int64{
		{"gpu": 1}, {"gpu:a100": 1}, {"gpu:a100": 2}, {"gpu:h100": 1}, {"gpu": 2}, {"gpu": 3},
	} {
		s := asking(script, request)
		s.Array = "1-8"
		jobs = append(jobs, r.submit(s))
	}
	none := shell("echo [$CUDA_VISIBLE_DEVICES] $CUDA_DEVICE_ORDER")
	none.Env = map[string]string{"CUDA_VISIBLE_DEVICES": "0"}
	jobs = append(jobs, r.submit(none))
	for _, id := range jobs {
		if j := r.until(id, ended); j.Job.State != "succeeded" {
			t.Errorf("job %d: %s, %s", id, j.Job.State, j.Job.Cause)
		}
	}
	if out := r.output(jobs[5]); out != "0,3,5\n" {
		t.Errorf("all GPUs are %q", out)
	}
	if out := r.output(jobs[6]); out != "[] PCI_BUS_ID\n" {
		t.Errorf("a task without GPUs says %q", out)
	}
}

// TestGPUOfTypeIsWaitedFor checks that a task that requests a GPU of a type begins when one of this type is
// free again, even if a GPU of another type is free, and that it can be stopped while it waits.
func TestGPUOfTypeIsWaitedFor(t *testing.T) {
	o := madeUp()
	o.GPUs = o.GPUs[1:] // one of each type
	r := newRig(t, time.Minute, o)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	goes, began := filepath.Join(dir, "go"), filepath.Join(dir, "began")
	first := r.submit(
		asking("> "+began+"; while ! test -e "+goes+"; do sleep 0.01; done; echo $FAIRLEAD_GPUS", map[string]int64{"gpu": 1}))
	r.until(first, func(*api.JobResponse) bool { _, err := os.Stat(began); return err == nil }) // it has a GPU
	stopped := r.submit(asking("echo began", map[string]int64{"gpu:a100": 1}))
	r.until(stopped, runs)
	if _, err := r.Jobs.Alter(t.Context(), api.AlterRequest{Verb: "cancel", Jobs: []int64{stopped}}); err != nil {
		t.Fatal(err)
	}
	if j := r.until(stopped, ended); j.Job.State != "cancelled" {
		t.Errorf("stopped: %+v", j)
	}
	waits := r.submit(asking("echo $FAIRLEAD_GPUS", map[string]int64{"gpu:a100": 1}))
	r.until(waits, runs)
	if err := os.WriteFile(goes, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{first, waits} {
		if r.until(id, ended); strings.TrimSpace(r.output(id)) != "3" {
			t.Errorf("job %d had %q", id, r.output(id))
		}
	}
}
