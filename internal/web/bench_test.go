package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// idler is a worker that takes tasks and never ends them.
type idler struct{}

func (idler) Start([]*fairlead.Lease)     {}
func (idler) Stop([]fairlead.Ref, string) {}

// crowd is a server with a thousand busy nodes, five thousand pools and a hundred thousand jobs
// that wait.
func crowd(b *testing.B, pools, waiting, nodes int) *lab {
	b.Helper()
	l := newLab(b, "policy: fair\nhalf_life: 7d\npools_on_demand: true\nbackfill: easy\nplacement: [{pool: \"{group}/{user}\"}]\n")
	for i := range nodes {
		if _, err := l.loop.Join(b.Context(), fmt.Sprintf("n%04d", i), must(fairlead.AgentCapacity(fairlead.Amounts{"cpu": 16, "mem": 64 << 30})), fairlead.NodeInfo{}, idler{}, nil); err != nil {
			b.Fatal(err)
		}
	}
	jobs := make([]fairlead.Job, 0, 10_000)
	for i := range waiting + nodes {
		user := i % pools
		j := fairlead.Job{
			User: fmt.Sprintf("user%04d", user), Group: fmt.Sprintf("group%02d", user%70), Name: fmt.Sprint("job", i), Kind: []string{"mpi", "r", "sim"}[i%3],
			Argv: []string{"true"}, Request: fairlead.Amounts{"cpu": 16}, Limit: time.Duration(1+i%9) * time.Hour,
		}
		if jobs = append(jobs, j); len(jobs) == cap(jobs) || i == waiting+nodes-1 {
			if _, err := l.loop.Submit(b.Context(), jobs); err != nil {
				b.Fatal(err)
			}
			jobs = jobs[:0]
		}
	}
	l.wait("all nodes are busy", func() bool { r, w := l.loop.Running(); return r == int64(nodes) && w == int64(waiting) })
	return l
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// BenchmarkPage is the time of the server for each page, and of its processors, which a loaded
// machine does not stretch.
func BenchmarkPage(b *testing.B) {
	l := crowd(b, 5000, 100_000, 1000)
	for _, p := range []struct{ name, path string }{
		{"now", "/"}, {"now-sorted", "/?sort=wait&from=2001"}, {"queue", "/queue"}, {"queue-far", "/queue?after=60000"},
		{"queue-user", "/queue?q=user:user0042"}, {"queue-kind", "/queue?q=kind:r+wait:%3E1s"}, {"queue-none", "/queue?q=name:nothing"}, {"queue-all", "/queue?list=all"},
		{"pool", "/pool?pool=group07"}, {"leaf", "/pool?pool=group07/user0007"}, {"user", "/pool?user=user0042"},
		{"job-first", "/jobs/1500"}, {"job-last", "/jobs/100900"}, {"job-what-if", "/jobs/50000?t=7200"}, {"act", "/act?verb=cancel&job=50000"}, {"boost", "/act?verb=boost&pool=group07"},
	} {
		b.Run(p.name, func(b *testing.B) {
			before := cpuTime(b)
			for b.Loop() {
				if status, _, text := l.get(p.path); status != http.StatusOK {
					b.Fatalf("%s: %d %s", p.path, status, text)
				}
			}
			b.ReportMetric((cpuTime(b)-before).Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// cpuTime is what this process has used of the processors.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkOpen is what two hundred open dashboards cost while five jobs a second are submitted, as a
// part of one processor: the difference to the same time without them. The readers are in it, as
// they are in this process.
func BenchmarkOpen(b *testing.B) {
	l := crowd(b, 5000, 100_000, 1000)
	const span = 15 * time.Second
	busy := func() float64 {
		before, beat := cpuTime(b), time.NewTicker(200*time.Millisecond)
		defer beat.Stop()
		for end := time.Now().Add(span); time.Now().Before(end); <-beat.C {
			if _, err := l.loop.Submit(b.Context(), []fairlead.Job{{User: "user0001", Group: "group01", Argv: []string{"true"}}}); err != nil {
				b.Fatal(err)
			}
		}
		return (cpuTime(b) - before).Seconds() / span.Seconds()
	}
	for b.Loop() {
		alone := busy()
		ctx, cancel := context.WithCancel(b.Context())
		var open, begun sync.WaitGroup
		begun.Add(200)
		for i := range 200 {
			path := []string{"/", "/queue", "/pool?pool=group07", "/?kiosk"}[i%4]
			open.Go(func() { l.read(ctx, path, begun.Done) })
		}
		begun.Wait()
		with := busy()
		cancel()
		open.Wait()
		b.ReportMetric(100*(with-alone), "%core")
		b.ReportMetric(100*alone, "%core-without")
	}
}

// read keeps a page open, and tells when it has what there is at first.
func (l *lab) read(ctx context.Context, path string, begun func()) {
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url+path+sep+"live=", nil)
	if err != nil {
		l.t.Error(err)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	text := bufio.NewReader(resp.Body)
	for line := ""; err == nil && line != "event: version\n"; line, err = text.ReadString('\n') {
	}
	begun()
	io.Copy(io.Discard, text)
}
