package postgres_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// loss is the fate of the answer to a commit: the session ends, or a pooler reports that it has lost the session.
type loss struct {
	mark string        // text that the connection sent before
	code string        // code of the error that replaces the answer; "": the connection is just closed
	also bool          // the answer itself still arrives, but nothing after it
	then func()        // runs before the client learns of the loss; may be nil
	done chan struct{} // closed at the loss, before the client learns of it
}

// losses is a proxy between a store and its database that loses answers.
type losses struct {
	t    *testing.T
	next atomic.Pointer[loss]
}

// through returns a URL of the database through the proxy l, with a mode of executing queries.
func (l *losses) through(url, mode string) string {
	l.t.Helper()
	host := regexp.MustCompile(`host=([^&]+)`).FindStringSubmatch(url)[1]
	dir := l.t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", filepath.Join(host, ".s.PGSQL.5432"))
			if err != nil {
				client.Close()
				continue
			}
			go l.join(client, server)
		}
	}()
	return strings.Replace(url, "host="+host, "host="+dir, 1) + "&default_query_exec_mode=" + mode
}

// join forwards the messages of both sides until one of them ends, or an answer is lost.
func (l *losses) join(client, server net.Conn) {
	var marked atomic.Pointer[loss]
	defer client.Close()
	defer server.Close()
	go func() {
		defer server.Close()
		buffer := make([]byte, 1<<16)
		for {
			n, err := client.Read(buffer)
			if next := l.next.Load(); next != nil && bytes.Contains(buffer[:n], []byte(next.mark)) {
				marked.Store(next)
			}
			if _, err2 := server.Write(buffer[:n]); err != nil || err2 != nil {
				return
			}
		}
	}()
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(server, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(server, body); err != nil {
			return
		}
		lost := marked.Load()
		if lost == nil || head[0] != 'C' || string(body) != "COMMIT\x00" || !l.next.CompareAndSwap(lost, nil) {
			client.Write(append(head, body...))
			continue
		}
		if lost.also {
			client.Write(append(head, body...))
		}
		lost.tell(client)
		return
	}
}

// tell ends a connection in the way of the loss.
func (l *loss) tell(client net.Conn) {
	if l.then != nil {
		l.then()
	}
	close(l.done)
	if l.code == "" {
		return
	}
	body := "SFATAL\x00VFATAL\x00C" + l.code + "\x00Mthe session is over\x00\x00"
	client.Write(append(binary.BigEndian.AppendUint32([]byte("E"), uint32(len(body)+4)), body...))
}

// lose makes the proxy lose the next answer to a commit on a connection that sent the marking text before. The returned
// function reports whether that has happened.
func (l *losses) lose(x loss) (happened func()) {
	x.done = make(chan struct{})
	l.next.Store(&x)
	return func() {
		l.t.Helper()
		select {
		case <-x.done:
		default:
			l.t.Error("void: no answer was lost")
		}
	}
}

// TestCommitIsNotRepeated: a store that loses the session before the answer to a commit does not know whether the
// commit took effect, whatever the error says. It must not repeat the transaction, with prepared statements or without,
// as behind a pooler.
func TestCommitIsNotRepeated(t *testing.T) {
	for name, x := range map[string]loss{
		"the connection is closed":              {},
		"a pooler has lost the session":         {code: "08P01"},
		"the session is ended":                  {code: "57P01"},
		"the session is ended just after":       {code: "57P01", also: true},
		"the connection is closed just after":   {also: true},
		"the database crashed after the commit": {code: "57P02"},
		"another session crashed just after":    {code: "57P02", also: true},
	} {
		for _, mode := range []string{"cache_statement", "exec"} {
			t.Run(name+"/"+mode, func(t *testing.T) { loseCommits(t, x, mode) })
		}
	}
}

// loseCommits loses the answers to the commits of a submission and of a lease.
func loseCommits(t *testing.T, x loss, mode string) {
	url, schema := pgtest.URL(t)
	between := &losses{t: t}
	s := at(t, between.through(url, mode), postgres.Options{Schema: schema})
	defer s.Close()
	x.mark = "marked"
	lost := between.lose(x)
	_, err := s.Submit(t.Context(), []*queue.Job{{Kind: "marked", User: "ann", Pool: "ann", Tasks: 3}})
	if lost(); err == nil || !strings.Contains(err.Error(), "may have taken effect") {
		t.Errorf("submit: %v", err)
	}
	jobs, err := s.Jobs(t.Context(), queue.Query{})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs of one submission (%v)", len(jobs), err)
	}
	lost = between.lose(x)
	_, err = s.Lease(t.Context(), "marked", []queue.Want{{Job: jobs[0].ID}}, time.Hour)
	if lost(); err == nil || !strings.Contains(err.Error(), "may have taken effect") {
		t.Errorf("lease: %v", err)
	}
	if refs, err := s.Expire(t.Context(), "marked"); err != nil || len(refs) != 1 {
		t.Errorf("leased %v, of one lease (%v)", refs, err)
	}
}

// TestIdleSessionsEnd: the database has ended idle sessions meanwhile. They have committed nothing, so calls that find
// their connection gone are repeated on another one.
func TestIdleSessionsEnd(t *testing.T) {
	url, schema := pgtest.URL(t)
	s := at(t, url+"&application_name="+schema, postgres.Options{Schema: schema})
	defer s.Close()
	admin, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	for n := range 5 {
		submit(t, s, 1, 1)
		if _, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1`, schema); err != nil {
			t.Fatal(err)
		}
		jobs, err := s.Jobs(t.Context(), queue.Query{})
		if err != nil || len(jobs) != n+1 {
			t.Errorf("%d jobs of %d submissions (%v)", len(jobs), n+1, err)
		}
		if _, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1`, schema); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRenewalIsRepeated: a renewal may be done twice, so a store that still holds the attempt repeats it and returns no
// error. If the attempt has ended meanwhile, the store returns an error, because it cannot tell whether the renewal
// took effect.
func TestRenewalIsRepeated(t *testing.T) {
	url, schema := pgtest.URL(t)
	between := &losses{t: t}
	s := at(t, between.through(url, "exec"), postgres.Options{Schema: schema})
	defer s.Close()
	other := at(t, url, postgres.Options{Schema: schema})
	defer other.Close()
	id := submit(t, s, 1, 1)[0]
	grants, err := s.Lease(t.Context(), "h", []queue.Want{{Job: id}}, time.Hour)
	if err != nil || grants[0].Lease == nil {
		t.Fatal(grants, err)
	}
	ref := grants[0].Lease.Ref
	const mark = "SET until = greatest"
	lost := between.lose(loss{mark: mark})
	errs, err := s.Renew(t.Context(), []queue.Ref{ref}, time.Hour)
	if lost(); err != nil || errs[0] != nil {
		t.Errorf("renewed: %v (%v)", errs, err)
	}
	lost = between.lose(loss{mark: mark, then: func() {
		v, err := other.Finish(context.Background(),
			[]queue.Result{{Ref: ref, Outcome: queue.Outcome{State: queue.Succeeded}}})
		if err != nil || v[0].Err != nil {
			t.Errorf("finished: %v (%v)", v, err)
		}
	}})
	errs, err = s.Renew(t.Context(), []queue.Ref{ref}, time.Hour)
	if lost(); err == nil || errs != nil || !strings.Contains(err.Error(), "may have taken effect") {
		t.Errorf("renewed, and ended before the second try: %v (%v)", errs, err)
	}
	if errs, err = s.Renew(t.Context(), []queue.Ref{ref}, time.Hour); err != nil ||
		!errors.Is(errs[0], queue.ErrStaleAttempt) {
		t.Errorf("renewed after its end: %v (%v)", errs, err)
	}
}
