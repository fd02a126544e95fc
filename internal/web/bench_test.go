package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// The benchmarks print the tables of docs/how-to/dashboard.md:
//
//	go test ./internal/web -run '^$' -bench Site -benchtime 1x
var (
	siteOnly   = flag.String("only", "", "measure only the pages whose address holds this")
	siteRate   = flag.Int("rate", 100, "how many jobs come, start and end in a second meanwhile")
	siteRounds = flag.Int("rounds", 20, "how often each page is asked for")
	siteSpan   = flag.Duration("span", 2*time.Minute, "how long open dashboards are looked at, and as long without them")
	siteFirst  = flag.Bool("first", true, "start the server anew for each page, to measure the first request")
)

// sitePool is the pool of one user.
const sitePool = "faculty3/inst13/user0917"

// asked is a request for a page, or to the interface.
type asked struct {
	path string
	body any // the posted body: values of a form, or else JSON
	live bool
}

// sitePages returns all pages, opened and followed live, and the requests of programs.
func sitePages(text, changed string) (all []asked) {
	for _, path := range []string{
		"/", "/?sort=tree", "/?sort=wait&from=2001", "/?kiosk", "/queue", "/queue?after=60000", "/queue?list=running", "/queue?list=all",
		"/queue?q=user:user0917", "/queue?q=pool:faculty3", "/queue?q=kind:r+wait:%3E1s", "/queue?q=name:nothing", "/queue?fold=user", "/queue?fold=pool&q=kind:r",
		"/pool?pool=faculty3", "/pool?pool=" +
			sitePool, "/pool?user=user0917", "/jobs/%first", "/jobs/%last", "/jobs/%runs", "/jobs/%array",
		"/machines", "/machines?q=rack%3Dr7&by=label:cpu&hours=24", "/policy", "/policy/weights", "/policy/weights?w.faculty3=30",
	} {
		all = append(all, asked{path: path}, asked{path: path, live: true})
	}
	all = append(all, asked{path: "/jobs/%last?t=5400"}, asked{path: "/jobs/%last?c=2&pool=faculty1"},
		asked{path: "/jobs/%first?t=5400"}, asked{path: "/act?verb=cancel&job=%last"}, asked{path: "/act?verb=boost&pool=faculty3"},
		asked{path: "/policy/edit"},
		asked{path: "/submit"},
		asked{path: "/policy/edit", body: url.Values{"text": {changed}, "do": {"check"}}},
		asked{path: "/policy/edit", body: url.Values{"text": {changed}, "do": {"plan"}, "last": {"0"}}},
	)
	for _, path := range []string{
		"/metrics", "/v1/shares", "/v1/shares?pool=faculty3", "/v1/jobs?limit=100", "/v1/jobs/%last", "/v1/jobs/%array", "/v1/jobs/%array/history", "/v1/jobs/%last/why", "/v1/jobs/%last/why?estimate=true", "/v1/why/pool?pool=" + sitePool,
		"/v1/nodes", "/v1/nodes/tasks", "/v1/limits", "/v1/status", "/v1/history", "/v1/history?pool=" +
			sitePool, "/v1/config", "/v1/config/versions", "/v1/boosts", "/v1/reservations", "/v1/stops",
	} {
		all = append(all, asked{path: path})
	}
	return append(all,
		asked{path: "/v1/jobs/%last/what-if", body: map[string]any{"limit_seconds": 5400}},
		asked{path: "/v1/config/diff", body: map[string]any{"text": changed}},
		asked{path: "/v1/config/plan", body: map[string]any{"text": changed}},
	)
}

func (a asked) String() string {
	path := strings.NewReplacer("%first", "N", "%last", "N", "%runs", "N", "%array", "ARRAY").Replace(a.path)
	switch form, isForm := a.body.(url.Values); {
	case isForm:
		return "POST " + path + " " + form.Get("do")
	case a.body != nil:
		return "POST " + path
	case a.live:
		return "   its changes"
	}
	return path
}

// answered holds the cost of a request.
type answered struct {
	took, held time.Duration
	bytes      int
}

// BenchmarkSite measures each page of a large site: the first request after the server was started, and then
// repeated requests, while jobs come, start and end.
func BenchmarkSite(b *testing.B) {
	s := newSite(b)
	text := siteConfig()
	pages := sitePages(text, strings.Replace(text, "faculty3:\n    weight: 13", "faculty3:\n    weight: 30", 1))
	for b.Loop() {
		out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', tabwriter.AlignRight|tabwriter.Debug)
		r, w := s.loop.Running()
		fmt.Printf("%d jobs wait, %d run; load %s", w, r, must(os.ReadFile("/proc/loadavg")))
		fmt.Fprintln(out, "page\tfirst ms\tmedian ms\tp95 ms\tcpu ms\tscheduler waits ms\tKiB\t")
		for _, a := range pages {
			if !strings.Contains(a.path, *siteOnly) {
				continue
			}
			s.measure(b, out, a)
			out.Flush()
		}
	}
}

// measure adds a line to the table.
func (s *site) measure(b *testing.B, out io.Writer, a asked) {
	if *siteFirst {
		s.again()
	}
	calm := s.busy(*siteRate)
	defer calm()
	pause := time.Second
	time.Sleep(pause)
	cpu := cpuTime(b)
	time.Sleep(pause)
	alone := float64(cpuTime(b)-cpu) / float64(pause)
	first := s.request(b, a)
	var all []answered
	cpu, began := cpuTime(b), time.Now()
	for range *siteRounds {
		all = append(all, s.request(b, a))
	}
	spent := max(0, float64(cpuTime(b)-cpu)-alone*float64(time.Since(began)))
	at := func(part float64, of func(answered) time.Duration) float64 {
		slices.SortFunc(all, func(a, b answered) int { return int(of(a) - of(b)) })
		return ms(of(all[int(part*float64(len(all)-1))]))
	}
	took, held := func(x answered) time.Duration { return x.took }, func(x answered) time.Duration { return x.held }
	fmt.Fprintf(out, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", a, ms(first.took), at(0.5, took), at(0.95, took),
		spent/1e6/float64(*siteRounds), at(0.5, held), float64(first.bytes)/1024)
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

// request sends one request, while another goroutine asks for the scheduler's lock all the time.
func (s *site) request(b *testing.B, a asked) (out answered) {
	req := s.prepare(b, a)
	done, worst := make(chan struct{}), make(chan time.Duration)
	go func() {
		longest := time.Duration(0)
		for {
			select {
			case <-done:
				worst <- longest
				return
			default:
			}
			began := time.Now()
			s.loop.Version()
			longest = max(longest, time.Since(began))
			time.Sleep(200 * time.Microsecond)
		}
	}()
	began := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if a.live {
		out.bytes = untilVersion(b, resp.Body)
	} else {
		text := must(io.ReadAll(resp.Body))
		if out.bytes = len(text); resp.StatusCode != http.StatusOK {
			b.Fatalf("%s: %d %.2000s", a, resp.StatusCode, text)
		}
	}
	out.took = time.Since(began)
	close(done)
	out.held = <-worst
	return out
}

// untilVersion reads the live answer of a page until the page is up to date.
func untilVersion(b *testing.B, body io.Reader) (bytes int) {
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		if bytes += len(line); strings.HasPrefix(line, "event: version") {
			return bytes
		}
		if err != nil || strings.HasPrefix(line, "event: problem") {
			b.Fatal(line, err)
		}
	}
}

// prepare makes the request.
func (s *site) prepare(b *testing.B, a asked) *http.Request {
	s.mu.Lock()
	runs := s.running[len(s.running)/2].ref.JobID
	s.mu.Unlock()
	waiting := func(newest bool) string {
		jobs, err := s.loop.Client().Jobs(b.Context(),
			queue.Query{States: []queue.State{queue.Waiting}, Newest: newest, Limit: 1})
		if err != nil {
			b.Fatal(err)
		}
		return strconv.FormatInt(jobs[0].ID, 10)
	}
	at := s.url + strings.NewReplacer("%first", waiting(false), "%last", waiting(true), "%runs",
		strconv.FormatInt(runs, 10), "%array", strconv.FormatInt(s.array, 10)).Replace(a.path)
	method, kind, body := http.MethodGet, "", []byte(nil)
	switch x := a.body.(type) {
	case nil:
	case url.Values:
		method, kind, body = http.MethodPost, "application/x-www-form-urlencoded", []byte(x.Encode())
	default:
		method, kind, body = http.MethodPost, "application/json", must(json.Marshal(x))
	}
	if a.live {
		if at += "?live="; strings.Contains(a.path, "?") {
			at = strings.Replace(at, "?live=", "&live=", 1)
		}
	}
	req := must(http.NewRequestWithContext(b.Context(), method, at, bytes.NewReader(body)))
	if kind != "" {
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Origin", s.url)
	}
	return req
}

// cpuTime returns the processor time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkOpen measures the cost of two hundred open dashboards while a hundred jobs per second come, start and end,
// as a percentage of one processor. It subtracts the cost without dashboards, measured before and after, because the
// scheduler's own work changes meanwhile. It measures twice: first while the slow computations are made once for all
// dashboards, and a second time afterwards. The cost includes the readers, which run in this process.
func BenchmarkOpen(b *testing.B) {
	s := newSite(b)
	span := *siteSpan
	busy := func() float64 {
		before := cpuTime(b)
		calm := s.busy(*siteRate)
		time.Sleep(span)
		calm()
		return (cpuTime(b) - before).Seconds() / span.Seconds()
	}
	for b.Loop() {
		alone := busy()
		ctx, cancel := context.WithCancel(b.Context())
		var open, begun sync.WaitGroup
		begun.Add(200)
		for i := range 200 {
			path := []string{"/", "/queue", "/pool?pool=faculty3", "/?kiosk", "/machines", "/policy"}[i%6]
			open.Go(func() { s.read(ctx, path, begun.Done) })
		}
		begun.Wait()
		first, then := busy(), busy()
		cancel()
		open.Wait()
		after := busy()
		b.ReportMetric(100*(first-(2*alone+after)/3), "%core-first") // the timetable is made meanwhile
		b.ReportMetric(100*(then-(alone+2*after)/3), "%core-then")
		b.ReportMetric(100*alone, "%core-before")
		b.ReportMetric(100*after, "%core-after")
	}
}

// read keeps a page open, and calls "begun" when the page is up to date for the first time.
func (s *site) read(ctx context.Context, path string, begun func()) {
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path+sep+"live=", nil)
	if err != nil {
		s.t.Error(err)
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
