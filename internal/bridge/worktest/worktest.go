// Package worktest has helpers for the tests of brokers: they run a worker, submit numbered jobs, and wait
// for the phase of a job.
package worktest

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/queue"
)

// Logger returns a logger that writes to stderr under -v, and discards everything otherwise.
func Logger(t testing.TB) *slog.Logger {
	if !testing.Verbose() {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil)).With("test", t.Name())
}

// Work runs a worker of a broker until the test ends.
func Work(t testing.TB, work func(context.Context, *mq.Worker)) {
	t.Helper()
	m, err := agent.OpenMachine(agent.Options{
		Name: "w", Dir: t.TempDir(), AnyUser: true, AllowRoot: true, Logger: Logger(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		work(ctx, &mq.Worker{Name: "w", Machine: m})
	}()
	t.Cleanup(func() {
		end()
		<-ended
		m.Close()
	})
}

// Job returns a submission of a command; its marker contains n.
func Job(n int, argv ...string) bridge.Submission {
	if len(argv) == 0 {
		argv = []string{"/bin/true"}
	}
	return bridge.Submission{
		Marker: fmt.Sprint("lost-", n), Priority: 5, Ref: queue.Ref{JobID: int64(n), Attempt: 1},
		Job: &queue.Job{ID: int64(n), User: "root", Argv: argv, Tasks: 1},
	}
}

// Entry returns the entry with which a bridge looks for Job(n) after a lost reply.
func Entry(n int) bridge.Entry {
	return bridge.Entry{Marker: fmt.Sprint("lost-", n), Submitted: time.Now()}
}

// Submit submits Job of each number.
func Submit(t testing.TB, q bridge.QS, n ...int) []bridge.Receipt {
	t.Helper()
	return submit(t.Context(), t, q, n)
}

// SubmitUntil submits Job of each number, and cancels the call as soon as lost returns true.
func SubmitUntil(t testing.TB, q bridge.QS, lost func() bool, n ...int) []bridge.Receipt {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		await.Within(await.Patience, func() bool { return ctx.Err() != nil || lost() })
		cancel()
	}()
	return submit(ctx, t, q, n)
}

func submit(ctx context.Context, t testing.TB, q bridge.QS, n []int) []bridge.Receipt {
	t.Helper()
	var all []bridge.Submission
	for _, i := range n {
		all = append(all, Job(i))
	}
	r, err := q.Submit(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Await calls Look until an entry is in a phase. It ignores errors of the QS meanwhile.
func Await(t testing.TB, q bridge.QS, e bridge.Entry, want bridge.Phase) bridge.Status {
	t.Helper()
	var got []bridge.Status
	await.Until(t, fmt.Sprintf("%s is in phase %v", e.Marker, want), func() (any, bool) {
		var err error
		got, err = q.Look(t.Context(), []bridge.Entry{e})
		return fmt.Sprintf("%+v, %v", got, err), err == nil && got[0].Phase == want
	})
	return got[0]
}

// WrongAddresses returns an address at which nobody listens, and one of an unrelated web server.
func WrongAddresses(t testing.TB) (closed, other string) {
	t.Helper()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	return nobody.Addr().String(), web.Listener.Addr().String()
}
