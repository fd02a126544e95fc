// Package worktest has what the tests of brokers share: a worker, jobs by numbers, and waiting for
// what becomes of them.
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

// Logger says what happens if a test is run with -v.
func Logger(t testing.TB) *slog.Logger {
	if !testing.Verbose() {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil)).With("test", t.Name())
}

// Work runs a worker of a broker for as long as the test.
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

// Job is a submission of a command, with a marker of its number.
func Job(n int, argv ...string) bridge.Submission {
	if len(argv) == 0 {
		argv = []string{"/bin/true"}
	}
	return bridge.Submission{
		Marker: fmt.Sprint("lost-", n), Priority: 5, Ref: queue.Ref{JobID: int64(n), Attempt: 1},
		Job: &queue.Job{ID: int64(n), User: "root", Argv: argv, Tasks: 1},
	}
}

// Entry is the entry to look for if the reply to a submission of Job was lost.
func Entry(n int) bridge.Entry {
	return bridge.Entry{Marker: fmt.Sprint("lost-", n), Submitted: time.Now()}
}

// Submit submits numbered jobs.
func Submit(t testing.TB, q bridge.QS, n ...int) []bridge.Receipt {
	t.Helper()
	return submit(t.Context(), t, q, n)
}

// SubmitUntil submits numbered jobs, and gives up as soon as a condition is true.
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

// Await looks until an entry is in a phase. Meanwhile the QS may not answer.
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

// WrongAddresses are one at which nobody listens, and one at which something else does.
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
