//go:build real

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	daemons "github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/queue"
)

// TestRealFullDisk fills the disk of the database. The server refuses submissions with a clear reason;
// everything else continues: reads, cancellations, and the ends of running tasks. When there is space again,
// submissions continue too, and every job that was ever acknowledged is there and ends.
func TestRealFullDisk(t *testing.T) {
	r := newRig(t, 5*time.Second)
	d := &disk{rig: r, dir: mountSmall(t, 16<<20), acked: map[string]int64{}, refused: map[string]bool{}}
	r.db = filepath.Join(d.dir, "jobs.db")
	gate := filepath.Join(r.dir, "gate")
	r.serve()
	r.work("n1", 4)
	d.must("runs", api.Spec{Array: "0-3", Argv: []string{"sh", "-c", "until [ -e " + gate + " ]; do sleep 0.05; done"}})
	// The other jobs wait behind these tasks: a job of one task goes before a further task of an array.
	r.until("four tasks run", func() bool { return r.job(d.acked["runs"]).Job.Running == 4 })
	d.must("cancelled", api.Spec{Argv: []string{"true"}})
	for i := range 20 {
		d.must(fmt.Sprint("waits-", i), api.Spec{Argv: []string{"true"}})
	}

	filler := d.fill()
	d.untilFull("first")
	if _, err := r.direct.Jobs.Alter(t.Context(), api.AlterRequest{Verb: "cancel", Jobs: []int64{d.acked["cancelled"]}}); err != nil {
		t.Errorf("on a full disk nothing can be canceled: %v", err)
	}
	d.untilFull("second") // the reserved space is not for submissions
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if j := r.finished(d.acked["runs"]); j.Job.Succeeded != 4 {
		t.Errorf("what ran when the disk was full: %+v", j.Job)
	}
	if r.server.ended() {
		t.Fatal("the server ended on a full disk")
	}
	r.server.kill()
	r.serve() // must work without any space
	d.untilFull("third")
	d.checkJobs()

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	r.until("submissions are accepted again", func() bool { return d.submit("after", api.Spec{Argv: []string{"true"}}) == nil })
	for key, id := range d.acked {
		want := queue.Succeeded
		if key == "cancelled" {
			want = queue.Cancelled
		}
		if j := r.finished(id); j.Job.State != string(want) {
			t.Errorf("job %s: %+v", key, j.Job)
		}
	}
	d.checkJobs()
	r.server.kill()
	r.serve()
	d.checkJobs()
	t.Logf("%d jobs acknowledged, %d refused", len(d.acked), len(d.refused))
}

// mountSmall mounts a small file system in memory; only root can do that.
func mountSmall(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("fairlead-chaos", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		daemons.Skip(t, fmt.Sprintf("a small file system cannot be mounted, which needs root: %v", err))
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// disk is a rig whose database is on a small disk, with the answer to each submitted key.
type disk struct {
	*rig
	dir     string
	acked   map[string]int64
	refused map[string]bool
}

func (d *disk) submit(key string, spec api.Spec) error {
	spec.Key = key
	ctx, cancel := context.WithTimeout(d.t.Context(), await.Patience)
	defer cancel()
	resp, err := d.direct.Jobs.Submit(ctx, api.SubmitRequest{Jobs: []api.Spec{spec}})
	if err == nil {
		err = resp.Jobs[0].Error.Err()
	}
	if err != nil {
		d.refused[key] = true
		return err
	}
	d.acked[key] = resp.Jobs[0].ID
	delete(d.refused, key)
	return nil
}

func (d *disk) must(key string, spec api.Spec) {
	d.t.Helper()
	if err := d.submit(key, spec); err != nil {
		d.t.Fatal(err)
	}
}

// fill takes all space that is left.
func (d *disk) fill() (file string) {
	d.t.Helper()
	file = filepath.Join(d.dir, "filler")
	f, err := os.Create(file)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); ; {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			return file
		} else if err != nil {
			d.t.Fatal(err)
		}
	}
}

// untilFull submits large jobs until they are refused, and then some more. Each refusal must name the full
// disk.
func (d *disk) untilFull(name string) {
	d.t.Helper()
	spec := api.Spec{Argv: []string{"true"}, Env: map[string]string{"X": strings.Repeat("x", 60_000)}}
	accepted, refused := 0, 0
	for end := time.Now().Add(deadline); refused < 10; {
		err := d.submit(fmt.Sprintf("%s-%d", name, accepted+refused), spec)
		switch {
		case err == nil:
			accepted++
		case errors.Is(err, queue.ErrFull) && strings.Contains(err.Error(), "disk full"):
			refused++
		default:
			d.t.Fatalf("on a full disk a submission is refused with: %v", err)
		}
		if time.Now().After(end) {
			d.t.Fatalf("%d submissions were accepted on a full disk", accepted)
		}
	}
	d.t.Logf("%s: %d submissions accepted before the first was refused", name, accepted)
}

// checkJobs compares the server's jobs with the acknowledged and the refused jobs.
func (d *disk) checkJobs() {
	d.t.Helper()
	list, err := d.direct.Jobs.List(d.t.Context(), url.Values{"limit": {"10000"}})
	if err != nil {
		d.t.Fatal(err)
	}
	there := map[string]int64{}
	for _, j := range list.Jobs {
		there[j.Key] = j.ID
		if d.refused[j.Key] {
			d.t.Errorf("job %d (%s) is there though it was refused", j.ID, j.Key)
		}
	}
	for key, id := range d.acked {
		if there[key] != id {
			d.t.Errorf("job %d (%s) was acknowledged and is not there", id, key)
		}
	}
	if len(there) != len(d.acked) {
		d.t.Errorf("%d jobs are there; %d were acknowledged", len(there), len(d.acked))
	}
}
