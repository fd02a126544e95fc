package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/api"
)

// TestMain fails if goroutines are left when all tests have ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// displacer passes requests to a server until "taken" is closed. Then it answers polls as a server does when another
// agent has taken the name of this one.
type displacer struct {
	server http.Handler
	taken  chan struct{}
}

func (d *displacer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/poll") {
		d.server.ServeHTTP(w, r)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-d.taken:
		case <-ctx.Done():
		}
		cancel()
	}()
	select {
	case <-d.taken:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"displaced": true}`)
	default:
		d.server.ServeHTTP(w, r.WithContext(ctx))
	}
}

// displaced serves a displacer in front of the server at a socket, and returns it with a client of it.
func displaced(t *testing.T, socket string) (*displacer, *api.Client) {
	t.Helper()
	front := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", front)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "server"})
	back := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	proxy.Transport = back
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	d := &displacer{server: proxy, taken: make(chan struct{})}
	server := &http.Server{Handler: d}
	go server.Serve(listener)
	client, err := api.Dial(front)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		server.Close()
		back.CloseIdleConnections()
	})
	return d, client
}

// TestDisplacedEndsItsTasks checks that, if another agent has taken the name of an agent, the agent ends only after
// its tasks, because they use resources that it closes. The task in this test cannot be started, and is slow to log
// that.
func TestDisplacedEndsItsTasks(t *testing.T) {
	r := newRig(t, time.Minute, agent.Options{})
	d, client := displaced(t, r.socket)
	joined, over, told := make(chan struct{}, 1), make(chan error, 1), make(chan struct{})
	var ended atomic.Bool
	log := slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), `msg="a task could not be started"`) {
			close(told)
			<-d.taken
			select {
			case err := <-over:
				over <- err // the agent did not wait for the task
			case <-time.After(300 * time.Millisecond):
			}
			ended.Store(true)
		}
		return len(p), nil
	}), nil))
	o := agent.Options{
		Client: client, Name: "n2", Dir: t.TempDir(), AllowRoot: true, Capacity: map[string]int64{"cpu": 1, "only": 1},
		Joined: func() { joined <- struct{}{} }, Logger: log,
	}
	go func() { over <- agent.Run(t.Context(), o) }()
	<-joined
	r.submit(api.Spec{Argv: []string{"/no/such/command"}, Request: map[string]int64{"only": 1}})
	<-told
	close(d.taken)
	if err := <-over; err == nil || !strings.Contains(err.Error(), "another agent has joined") {
		t.Errorf("the agent ended: %v", err)
	}
	if !ended.Load() {
		t.Error("a task goes on in an agent that has ended")
	}
}
