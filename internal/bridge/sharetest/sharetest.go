// Package sharetest sends 600 real jobs in bursts through a bridge into a real queueing system, and measures
// the service that the groups receive. Three groups each demand more than their shares; a fourth one is a
// priority group.
package sharetest

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/server"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// draw is a directory for the figures.
var draw = flag.String("draw", "", "directory for the pictures of 600 jobs through a bridge")

// text is the configuration of the server, for jobs that are fed just in time.
const text = `policy: fair
pools:
  physics: {weight: 50}
  biology: {weight: 30}
  chemistry: {weight: 20}
  daq: {weight: 1, min: {cpu: %d}}
`

// Run measures both ways of feeding the QS: all jobs at once, and just in time.
func Run(t *testing.T, rig Rig) {
	rig.Seconds, rig.Unsharp = cmp.Or(rig.Seconds, 0.3), cmp.Or(rig.Unsharp, time.Second/2)
	rig.Tolerance = cmp.Or(rig.Tolerance, 5)
	for _, feed := range []string{atOnce, justInTime} {
		t.Run(feed, func(t *testing.T) {
			r := &recorder{
				QS: rig.Open(), jobs: map[string]*job{}, arrived: map[int64]time.Time{}, progress: make(chan struct{}, 1),
			}
			t.Cleanup(func() { r.Close() }) // after the bridge has ended
			loop, client := serve(t, rig.Slots)
			through(t, client, r, options(t, rig, feed))
			until := feedAll(t, rig, loop, r)
			r.check(t, rig, until)
			if *draw != "" {
				file := filepath.Join(*draw, rig.Name+"-"+feed+".svg")
				if err := os.WriteFile(file, []byte(plot.SVG(r.picture(rig, feed, until))), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// serve runs a server in memory.
func serve(t *testing.T, slots int) (*engine.Loop, *api.Client) {
	t.Helper()
	c, err := config.Parse("sharetest", fmt.Appendf(nil, text, slots))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	store := memory.New("cpu")
	loop, err := engine.NewLoop(ctx, store, engine.LoopOptions{Shares: c.Shares})
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	client, err := api.Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { loop.Run(ctx) })
	wg.Go(func() { server.New(server.Options{Loop: loop, Store: store}).Serve(ctx, listener) })
	t.Cleanup(func() { cancel(); wg.Wait(); client.Close() })
	return loop, client
}

func options(t *testing.T, rig Rig, feed string) bridge.Options {
	t.Helper()
	o := bridge.Options{System: rig.Name, Name: "bridge", Dir: t.TempDir(), Poll: 200 * time.Millisecond}
	if testing.Verbose() {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if feed == justInTime {
		o.Slots, o.Level = int64(rig.Slots), rig.Levels[1]
		return o
	}
	benefit, err := frontback.Builtin().New("resources", frontback.Parameters{Weights: map[string]float64{"cpu": 1}})
	if err != nil {
		t.Fatal(err)
	}
	o.Groups = &bridge.Groups{
		Settings: frontback.Settings{
			Groups: groups, Priority: []string{above}, Levels: rig.Levels, Benefit: benefit, HalfLife: time.Hour, AtStart: true,
		},
		Estimate: time.Duration(rig.Seconds * float64(time.Second)),
	}
	return o
}

// through runs a bridge until the end of the test.
func through(t *testing.T, client *api.Client, qs bridge.QS, o bridge.Options) {
	t.Helper()
	o.Client, o.QS = client, qs
	joined := make(chan struct{}, 1)
	o.Joined = func() { joined <- struct{}{} }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := bridge.Run(ctx, o); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	select {
	case <-joined:
	case <-time.After(time.Minute):
		t.Fatal("the bridge does not join")
	}
}

// feedAll submits jobs as others end: each fair-share group demands more than half of the slots. It returns
// when all jobs have ended, with the time until which all groups had more jobs to come.
func feedAll(t *testing.T, rig Rig, loop *engine.Loop, r *recorder) (until time.Time) {
	t.Helper()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]int{}
	submit := func(pool string, due, most int) {
		for sent[pool] < min(due, most) {
			var jobs []queue.Job
			for range burst {
				jobs = append(jobs, queue.Job{
					User: me.Username, Pool: pool, Argv: []string{"/bin/sleep", fmt.Sprint(rig.Seconds)}, Dir: "/",
					Request: queue.Amounts{"cpu": 1},
				})
			}
			added, err := loop.Intake.Submit(t.Context(), jobs)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range added {
				r.came(a.ID)
			}
			sent[pool] += burst
		}
	}
	stuck := time.NewTimer(time.Minute)
	for n := 0; n < each*len(groups)+urgent; n = r.ended() {
		for i, g := range groups {
			// Start with one or two bursts of each group, and let the groups take turns.
			submit(g.Name, 2*burst+int(demand*float64(n))+2*i-burst, each)
		}
		submit(above, n/10, urgent)
		if until.IsZero() && sent[groups[0].Name] == each {
			until = time.Now()
		}
		stuck.Reset(time.Minute)
		select {
		case <-r.progress:
		case <-stuck.C:
			t.Fatalf("nothing has ended for a minute; %d have", r.ended())
		}
	}
	return until
}
