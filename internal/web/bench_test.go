package web_test

import (
	"fmt"
	"net/http"
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
