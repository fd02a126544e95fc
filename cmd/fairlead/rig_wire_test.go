//go:build real

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// wire is a proxy between a server and everybody else. It shows all messages to the witness, and cuts connections at
// random: before a request arrives, or before its answer does.
type wire struct {
	*witness
	socket string
	server *http.Client

	lossy                   sync.Mutex
	rng                     *rand.Rand
	chance                  float64 // probability of losing a request, or an answer
	cutRequests, cutAnswers int
}

// witness records which attempts servers handed out, renewed and accepted as ended, as seen from the other side.
type witness struct {
	mu                    sync.Mutex
	tasks                 map[taskName]*attempts
	refs                  []queue.Ref       // attempts that were handed out
	sessions              map[string]string // sessions of agents, by name
	wrong                 []string          // descriptions of faults
	twoHolders, completed int               // number of attempts with two valid holders, and of tasks with two completions
	renewals, ends        int               // renewals granted, and ends accepted, by servers
	stale, refused        int               // writes of attempts that were over, and how many of these were refused
}

func newWitness() *witness {
	return &witness{tasks: map[taskName]*attempts{}, sessions: map[string]string{}}
}

type taskName struct {
	job  int64
	task int
}

// attempts holds the messages about the attempts of one task.
type attempts struct {
	newest   int            // newest attempt that was handed out
	gang     bool           // part of a gang: all its tasks rerun if one has to
	accepted map[int]string // state at the end that the server accepted, by attempt
	refused  map[int]string // code of the refusal, by attempt
	back     map[int]bool   // attempts that were given back, with or without an answer
	handed   []handed       // in order
}

// handed is the time when an attempt was first handed out, and its agent.
type handed struct {
	attempt int
	at      time.Time
	agent   string
}

func newWire(t *testing.T, seen *witness, socket, server string) *wire {
	t.Helper()
	w := &wire{witness: seen, socket: socket, rng: rand.New(rand.NewPCG(1, 1))}
	var d net.Dialer
	transport := &http.Transport{
		MaxIdleConnsPerHost: 32,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, "unix", server)
		},
	}
	w.server = &http.Client{Transport: transport}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: w}
	go s.Serve(l)
	t.Cleanup(func() { s.Close(); transport.CloseIdleConnections() })
	return w
}

// cut makes the wire lose requests and answers with this probability from now on.
func (w *wire) cut(chance float64, rng *rand.Rand) {
	w.lossy.Lock()
	defer w.lossy.Unlock()
	w.chance, w.rng = chance, rng
}

func (w *wire) loses(count *int) bool {
	w.lossy.Lock()
	defer w.lossy.Unlock()
	if w.rng.Float64() >= w.chance {
		return false
	}
	*count++
	return true
}

// ServeHTTP passes a request on. A panic with http.ErrAbortHandler closes the connection without an answer.
func (w *wire) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	if err != nil || w.loses(&w.cutRequests) {
		panic(http.ErrAbortHandler)
	}
	var report *reportSeen
	if strings.HasSuffix(in.URL.Path, "/report") {
		report = w.seeReport(body)
	}
	status, answer, err := w.forward(in, body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if status == http.StatusOK {
		switch {
		case report != nil:
			w.seeAnswer(report, answer)
		case strings.HasSuffix(in.URL.Path, "/poll"):
			w.seeLeases(in.URL.Path, answer)
		case strings.HasSuffix(in.URL.Path, "/join"):
			w.seeJoin(in.URL.Path, answer)
		}
	}
	if w.loses(&w.cutAnswers) {
		panic(http.ErrAbortHandler)
	}
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	out.Write(answer)
}

func (w *wire) forward(in *http.Request, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(in.Context(), in.Method, "http://fairlead"+in.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header = in.Header.Clone()
	resp, err := w.server.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

func (w *witness) task(ref queue.Ref) *attempts {
	name := taskName{ref.JobID, ref.Task}
	a := w.tasks[name]
	if a == nil {
		a = &attempts{accepted: map[int]string{}, refused: map[int]string{}, back: map[int]bool{}}
		w.tasks[name] = a
	}
	return a
}

// seeJoin records the session of an agent.
func (w *witness) seeJoin(path string, answer []byte) {
	var j api.JoinResponse
	if json.Unmarshal(answer, &j) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions[agentOf(path)] = j.Session
}

// agentOf returns the agent in the path of a request: /v1/agents/NAME/...
func agentOf(path string) string {
	if parts := strings.Split(path, "/"); len(parts) > 3 {
		return parts[3]
	}
	return ""
}

// seeLeases records attempts that are handed out.
func (w *witness) seeLeases(path string, answer []byte) {
	var p api.PollResponse
	if json.Unmarshal(answer, &p) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range p.Start {
		a := w.task(l.Ref)
		a.gang = l.Job.Gang > 1
		if l.Attempt > a.newest {
			a.newest = l.Attempt
			a.handed = append(a.handed, handed{l.Attempt, time.Now(), agentOf(path)})
			w.refs = append(w.refs, l.Ref)
		}
	}
}

// reportSeen is a report on its way. The list stale holds the attempts for which a later attempt of the same task had
// been handed out before the report was sent; over holds the attempts whose end had been accepted. The server must not
// accept either as valid.
type reportSeen struct {
	api.ReportRequest
	stale, over map[queue.Ref]bool
}

func (w *witness) seeReport(body []byte) *reportSeen {
	r := &reportSeen{stale: map[queue.Ref]bool{}, over: map[queue.Ref]bool{}}
	if json.Unmarshal(body, &r.ReportRequest) != nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	note := func(ref queue.Ref) {
		a := w.task(ref)
		r.stale[ref] = a.newest > ref.Attempt
		_, r.over[ref] = a.accepted[ref.Attempt]
	}
	for _, f := range r.Finished {
		note(f.Ref)
	}
	for _, ref := range r.Renew {
		note(ref)
	}
	for _, ref := range r.Release {
		w.task(ref).back[ref.Attempt] = true
	}
	return r
}

// seeAnswer records the server's answer to a report.
func (w *witness) seeAnswer(r *reportSeen, body []byte) {
	var answer api.ReportResponse
	if json.Unmarshal(body, &answer) != nil || answer.Rejoin {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, e := range answer.Renew {
		w.answered(r, r.Renew[i], e)
		if e == nil {
			w.renewals++
		}
		if e == nil && r.stale[r.Renew[i]] {
			w.twoHolders++
			w.blame("the lease of %v was renewed though a later attempt had begun", r.Renew[i])
		}
	}
	for i, e := range answer.Finished {
		f := r.Finished[i]
		w.answered(r, f.Ref, e)
		if e == nil {
			w.ends++
			w.accept(f, r.stale[f.Ref])
		} else {
			w.task(f.Ref).refused[f.Attempt] = e.Code
		}
	}
}

// answered counts writes of attempts that were over, and how many the server refused.
func (w *witness) answered(r *reportSeen, ref queue.Ref, e *api.Error) {
	if r.stale[ref] || r.over[ref] {
		w.stale++
		if e != nil {
			w.refused++
		}
	}
}

// accept records an end that the server accepted. After a success no other end may follow, except in a gang, and no
// attempt may end twice. The wire may see the answers of two servers in another order than they were given: the numbers
// of the attempts show which came first.
func (w *witness) accept(f api.Finished, stale bool) {
	a := w.task(f.Ref)
	if stale {
		w.twoHolders++
		w.blame("the end of %v was accepted though a later attempt had begun", f.Ref)
	}
	for try, state := range a.accepted {
		first := state // the state of the first of the two attempts
		if f.Attempt < try {
			first = f.State
		}
		if try == f.Attempt || first == string(queue.Succeeded) && !a.gang {
			w.completed++
			w.blame("%v ended as %s, after attempt %d had ended as %s", f.Ref, f.State, try, state)
		}
	}
	a.accepted[f.Attempt] = f.State
}

func (w *witness) blame(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// renewed returns how often the server renewed a lease.
func (w *witness) renewed() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.renewals
}

// refusal returns the code with which the end of an attempt was refused, if it was.
func (w *witness) refusal(ref queue.Ref) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.task(ref).refused[ref.Attempt]
}

// accepted returns the attempts of a task whose end the server accepted, with the final states.
func (w *witness) accepted(job int64, task int) map[int]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.task(queue.Ref{JobID: job, Task: task}).accepted)
}

// givenBack returns how many attempts of a task the agents gave back.
func (w *witness) givenBack(job int64, task int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.task(queue.Ref{JobID: job, Task: task}).back)
}
