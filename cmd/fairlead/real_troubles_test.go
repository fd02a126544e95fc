//go:build real

package main

import (
	"context"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/terminal"
	"github.com/fairlead/fairlead/internal/views"
)

// looker looks at the places that show problems: the first page, top, doctor and the metrics.
type looker struct {
	*rig
	web    http.Client
	screen *terminal.Screen // the screen of a top that runs all the time
}

func newLooker(r *rig) *looker {
	r.t.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", r.socket)
	}
	l := &looker{rig: r, web: http.Client{Transport: &http.Transport{DialContext: dial}}}
	const width, height = 200, 50
	person, program, err := terminal.Open(width, height)
	if err != nil {
		r.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	l.screen = terminal.NewScreen(width, height)
	top := &exec.Cmd{
		Path: self, Args: []string{"fairlead", "top", "--server", r.socket}, Dir: r.dir,
		Env: append(os.Environ(), "TERM=xterm-256color"), Stdin: program, Stdout: program, Stderr: program,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}
	if err := top.Start(); err != nil {
		r.t.Fatal(err)
	}
	go io.Copy(l.screen, person)
	r.t.Cleanup(func() {
		top.Process.Kill()
		top.Wait()
		person.Close()
		program.Close()
		l.web.CloseIdleConnections()
	})
	return l
}

// lookedAt lists these places, in the order in which the looker names them.
var lookedAt = []string{"page", "top", "doctor", "metrics"}

// says returns the text of a place about a check that is not good, "" if there is none.
func (l *looker) says(place, check string) string {
	switch place {
	case "page":
		found := regexp.MustCompile(`data-check="` + check + `">(.*?)</p>`).FindStringSubmatch(l.get("/"))
		if found == nil {
			return ""
		}
		return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(found[1], ""))
	case "top":
		_, rest, found := strings.Cut(l.screen.Text(), "! "+check+": ")
		if found {
			said, _, _ := strings.Cut(rest, "! ")
			return strings.Join(strings.Fields(said), " ")
		}
	case "doctor":
		d, err := l.direct.Doctor(l.t.Context(), false)
		if err != nil {
			return ""
		}
		for _, c := range d.Checks {
			if c.Name == check && c.Result != api.ResultOK {
				return c.Text + " Next: " + c.Next
			}
		}
	case "metrics":
		if strings.Contains(l.get("/metrics"), fmt.Sprintf("\nfairlead_health{check=%q} ", check)) &&
			!strings.Contains(l.get("/metrics"), fmt.Sprintf("\nfairlead_health{check=%q} 0\n", check)) {
			return check
		}
	}
	return ""
}

func (l *looker) get(path string) string {
	resp, err := l.web.Get("http://fairlead" + path)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body) // a page that reports an unreachable database has another status
	return string(text)
}

// trouble causes a fault, and mends it. It waits until each place shows the fault, its effect and the next step, and
// then until no place shows it. It returns the longest of these times.
func (l *looker) trouble(name, check string, holds, next string, cause, mend func()) time.Duration {
	l.t.Helper()
	var longest time.Duration
	var each []string
	watch := func(what string, f func(place string) bool) {
		began := time.Now()
		for _, place := range lookedAt {
			l.until(fmt.Sprintf("%s: %s %s", name, place, what), func() bool { return f(place) })
			took := time.Since(began)
			longest = max(longest, took)
			each = append(each, fmt.Sprintf("%s %s after %v", place, what, took.Round(time.Millisecond)))
		}
	}
	l.t.Cleanup(func() {
		for _, place := range lookedAt {
			if l.t.Failed() {
				l.t.Logf("%s: %s says at last: %q", name, place, l.says(place, check))
			}
		}
	})
	cause()
	watch("shows it", func(place string) bool {
		said := l.says(place, check)
		if place == "metrics" {
			return said != ""
		}
		return strings.Contains(said, holds) && strings.Contains(said, next)
	})
	mend()
	watch("shows it no more", func(place string) bool { return l.says(place, check) == "" })
	l.t.Logf("%s: %s", name, strings.Join(each, ", "))
	return longest
}

// TestRealTroubles causes six faults, one after the other: the first page, top, doctor and the metrics show each fault
// with its effect and the next step, and nothing when it is mended.
func TestRealTroubles(t *testing.T) {
	for name, took := range troubles(t) {
		t.Log(name, took)
	}
}

func troubles(t *testing.T) map[string]time.Duration {
	took := map[string]time.Duration{}
	behind := newRig(t, patientLease)
	behind.serve()
	behind.work("m1", 1)
	r := newRig(t, patientLease)
	dir := mountSmall(t, 1280<<20) // with less than 1 GiB free, the disk would be reported all the time
	r.db = filepath.Join(dir, "jobs.db")
	config := filepath.Join(r.dir, "fairlead.yaml")
	write := func(text string) {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("pools: {physics: {weight: 2}}\n")
	r.options = []string{"--config", config}
	r.serve()
	r.work("n1", 2)
	l := newLooker(r)
	r.until("top shows the pools", func() bool { return strings.Contains(l.screen.Text(), "physics") })

	took["configuration"] = l.trouble("wrong configuration", "configuration", "stays in use", "fairlead config check",
		func() { write("pools: {physics: {weight: -2}}\n") },
		func() { write("pools: {physics: {weight: 3}}\n") })

	d := &disk{rig: r, dir: dir}
	var filler string
	took["disk"] = l.trouble("full disk", "disk", "free in", "submissions are refused when the disk is full",
		func() { filler = d.fill() },
		func() { os.Remove(filler) })

	dead := r.work("n2", 2)
	busy := r.submit(api.Spec{Pool: "physics", Array: "0-3", Argv: []string{"sleep", "600"}})
	r.until("all tasks run", func() bool { return r.job(busy).Job.Running == 4 })
	took["agent"] = l.trouble("dead agent", "silent nodes", "2 tasks there", "journalctl -u fairlead-agent",
		dead.kill, func() {
			if !l.silent("n2") {
				t.Error("the list of nodes does not say that n2 has no connection")
			}
			r.work("n2", 2)
		})
	r.cancel(busy)
	r.finished(busy)

	took["node"] = l.trouble("black-hole node", "failures", "failed on n2", "fairlead drain n2", func() {
		onlyOnN1 := []string{"sh", "-c", "[ $FAIRLEAD_NODE = n1 ] && sleep 0.1"}
		r.finished(r.submit(api.Spec{Pool: "physics", Array: "0-199", Argv: onlyOnN1}))
	}, func() {
		drain := api.DrainRequest{Drain: true, Reason: "no /scratch"}
		if _, err := r.direct.Nodes.Drain(t.Context(), "n2", drain); err != nil {
			t.Fatal(err)
		}
	})

	took["bridge"] = l.killedBridge(behind)
	took["database"] = lostDatabase(t)
	return took
}

// silent reports whether the list of nodes says that the agent of a node has no connection.
func (l *looker) silent(node string) bool {
	list, err := l.direct.Nodes.List(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	at := slices.IndexFunc(list.Nodes, func(n views.NodeView) bool { return n.Name == node })
	return at >= 0 && list.Nodes[at].Silent != nil
}

// killedBridge kills a bridge that has passed tasks on, and restarts it.
func (l *looker) killedBridge(behind *rig) time.Duration {
	first := l.bridgeTo(behind)
	sleep := api.Spec{Pool: "physics", Dir: "/", LimitSeconds: 900, Array: "0-9", Argv: []string{"sleep", "600"}}
	passed := l.submit(sleep)
	l.until("the queue behind the bridge has tasks", func() bool { return l.job(passed).Job.Queued > 0 })
	return l.trouble("killed bridge", "bridges", "its jobs wait", "fairlead bridge queue --name",
		first.kill, func() { l.bridgeTo(behind) })
}

// lostDatabase takes the PostgreSQL of a server away, and brings it back.
func lostDatabase(t *testing.T) time.Duration {
	f := newFleet(t, 1, patientLease, 1)
	site := f.sites[0]
	site.serve()
	site.work("p1", 1)
	pg := newLooker(site)
	site.until("top shows the processor", func() bool { return strings.Contains(pg.screen.Text(), "0/1") })
	return pg.trouble("lost database", "database", "submissions are refused and nothing starts",
		"check the database", f.database.Halt, func() {
			if err := f.database.Run(); err != nil {
				t.Fatal(err)
			}
		})
}
