package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
)

const otherUID = 1 // the user "daemon", who does nothing wrong

// held parses an intruder's report about the connections that it holds.
func (a *actor) held() map[string]int {
	a.t.Helper()
	out := map[string]int{}
	for _, m := range regexp.MustCompile(`(\w+)=(\d+)`).FindAllStringSubmatch(a.says("503="), -1) {
		out[m[1]], _ = strconv.Atoi(m[2])
	}
	return out
}

// serves checks that a server still serves administrators, their agents, other users on the socket, and a browser with
// a session.
func serves(t *testing.T, when, socket, address, cookie string) {
	t.Helper()
	home := t.TempDir()
	for _, uid := range []int{0, otherUID} {
		began := time.Now()
		dir := home
		if uid != 0 {
			dir = shared(t)
		}
		if out, status := said(as(t, uid, dir, "fairlead", "queue", "--server", socket)); status != 0 {
			t.Errorf("%s: user %d gets status %d: %s", when, uid, status, out)
		}
		t.Logf("%s: user %d is answered after %v", when, uid, time.Since(began))
	}
	agent := start(t, as(t, 0, home, "fairlead", "work", "--server", socket, "--name", "n"+strconv.Itoa(time.Now().Nanosecond()), "--dir", home+"/agent", "--allow-root"))
	agent.says("joined")
	agent.end()
	if address == "" {
		return
	}
	req, err := http.NewRequest(http.MethodGet, "http://"+address+"/v1/status", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Cookie", cookie)
	resp, err := (&http.Client{Transport: &http.Transport{}}).Do(req)
	if err != nil {
		t.Fatalf("%s: a browser: %v", when, err)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusOK {
		t.Errorf("%s: a browser gets status %d", when, resp.StatusCode)
	}
}

// TestConnectionFlood lets one user open thousands of connections, on the socket and on the address, and keep them.
// Other users must not notice.
func TestConnectionFlood(t *testing.T) {
	needRoot(t)
	t.Parallel()
	server, socket, address := daemon(t, 0)
	client, err := api.Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	cookie := sessionCookie(t, client)
	dir := shared(t)
	serves(t, "before", socket, address, cookie)
	onSocket := start(t, as(t, strangerUID, dir, "intruder", "hold", "unix", socket, "3000"))
	if n := onSocket.held(); n["open"] > 512 || n["429"]+n["closed"]+n["failed"] < 3000-512 || n["429"] == 0 {
		t.Errorf("of 3000 connections at the socket: %v", n)
	}
	serves(t, "with a flood at the socket", socket, address, cookie)
	if out, status := said(as(t, strangerUID, dir, "fairlead", "queue", "--server", socket)); status == 0 || !strings.Contains(out, "too many connections") {
		t.Errorf("the user who floods gets status %d: %s", status, out)
	}
	onAddress := start(t, as(t, strangerUID, dir, "intruder", "hold", "tcp", address, "6000"))
	onAddress.held()
	serves(t, "with a flood at the address", socket, address, cookie)
	onSocket.end()
	onAddress.end()
	await.Until(t, "the places are free again", func() (any, bool) {
		out, status := said(as(t, strangerUID, dir, "fairlead", "queue", "--server", socket))
		return out, status == 0
	})
	if out := server.out.String(); !strings.Contains(out, "connections are refused") || strings.Contains(out, "too many open files") {
		t.Errorf("the server's log:\n%s", out)
	}
}

// TestFewFiles checks that a server that may open only a few files reserves some for administrators and for itself.
func TestFewFiles(t *testing.T) {
	needRoot(t)
	t.Parallel()
	dir := shared(t)
	socket := dir + "/s"
	cmd := as(t, 0, dir, "fairlead", "serve", "--db", dir+"/jobs.db", "--socket", socket, "--listen", "127.0.0.1:0")
	limited := exec.Command("sh", append([]string{"-c", `ulimit -n 400; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)...)
	limited.Dir, limited.Env = cmd.Dir, cmd.Env
	server := start(t, limited)
	address := strings.TrimPrefix(regexp.MustCompile(`http://\S+`).FindString(server.says("  try ")), "http://")
	var floods []*actor
	for _, where := range [][]string{{"unix", socket}, {"tcp", address}} {
		floods = append(floods, start(t, as(t, strangerUID, dir, "intruder", "hold", where[0], where[1], "500")))
	}
	for uid := 100; uid < 104; uid++ { // several users together
		floods = append(floods, start(t, as(t, uid, dir, "intruder", "hold", "unix", socket, "100")))
	}
	for _, f := range floods {
		f.held()
	}
	open, err := os.ReadDir(fmt.Sprint("/proc/", server.cmd.Process.Pid, "/fd"))
	if err != nil || len(open) < 100 || len(open) > 330 {
		t.Errorf("the server has %d files open, %v", len(open), err)
	}
	if out, status := said(as(t, 0, dir, "fairlead", "queue", "--server", socket)); status != 0 {
		t.Errorf("root gets status %d: %s", status, out)
	}
	if out, status := said(as(t, 0, dir, "fairlead", "submit", "--hold", "--server", socket, "--", "true")); status != 0 {
		t.Errorf("root submits with status %d: %s", status, out)
	}
	if out := server.out.String(); strings.Contains(out, "too many open files") {
		t.Errorf("the server's log:\n%s", out)
	}
}

// TestStreamFlood lets one user open many streams of events. Other users must still get theirs.
func TestStreamFlood(t *testing.T) {
	needRoot(t)
	t.Parallel()
	_, socket, _ := daemon(t, 0)
	request := `GET /v1/events HTTP/1.1\r\nHost: fairlead\r\n\r\n`
	flood := start(t, as(t, strangerUID, shared(t), "intruder", "hold", "unix", socket, "400", request))
	if n := flood.held(); n["200"] != 250 || n["503"] != 150 {
		t.Errorf("of 400 streams of one user: %v", n)
	}
	other := start(t, as(t, otherUID, shared(t), "intruder", "hold", "unix", socket, "5", request))
	if n := other.held(); n["200"] != 5 {
		t.Errorf("of 5 streams of another user: %v", n)
	}
}
