//go:build campaign

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/why/replay"
)

// edit writes the file and waits until the server has applied it.
func (l *lab) edit(configured string) {
	l.t.Helper()
	before := l.status()
	l.write(configured)
	l.until("the file is in force", func() bool {
		now := l.status()
		return now.Hash != before.Hash && now.Problem == ""
	})
}

// spoil writes a file that the server must refuse, for the given reason, which includes line and column. The current
// configuration must stay.
func (l *lab) spoil(configured, reason string) {
	l.t.Helper()
	before := l.status()
	l.write(configured)
	var now *api.ConfigStatus
	l.until("the file is refused", func() bool {
		now = l.status()
		return now.Problem != "" && now.Problem != before.Problem
	})
	if !strings.Contains(now.Problem, reason) || now.Hash != before.Hash || now.Text != before.Text {
		l.t.Errorf("in force was version %s and is %s; the problem is\n%s\nwant %s", before.Hash, now.Hash, now.Problem, reason)
	}
	l.t.Logf("refused: %s", strings.SplitN(now.Problem, "\n", 2)[0])
}

func (l *lab) status() *api.ConfigStatus {
	l.t.Helper()
	s, err := l.client.Config.Status(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// feed keeps jobs of all users waiting. It returns a function that ends this, but not before at least "least" jobs were
// submitted.
func (l *lab) feed(users map[string]string, work []string, least int64) (end func()) {
	var wg sync.WaitGroup
	var ending atomic.Bool
	for i, user := range slices.Sorted(maps.Keys(users)) {
		client, err := api.Dial(l.socket)
		if err != nil {
			l.t.Fatal(err)
		}
		l.t.Cleanup(client.Close)
		client.As = user
		wg.Go(func() {
			for n := 0; !(ending.Load() && l.sent.Load() >= least) && l.t.Context().Err() == nil; time.Sleep(50 * time.Millisecond) {
				waits, err := waitingIn(client, users[user])
				if err != nil || waits > enough {
					continue // the server is starting again, or enough jobs wait
				}
				var r api.SubmitRequest
				for range enough {
					n++
					r.Jobs = append(r.Jobs, l.spec(user, n, work[i%len(work)]))
				}
				l.submit(client, r)
			}
		})
	}
	return func() {
		ending.Store(true)
		wg.Wait()
	}
}

// enough is the number of waiting jobs that keeps a pool busy until the next check.
const enough = 60

func waitingIn(client *api.Client, pool string) (int64, error) {
	s, err := client.Pools.Shares(context.Background(), pool)
	if err != nil {
		return 0, err
	}
	for _, p := range s.Pools {
		if p.Path == pool {
			return p.Waiting, nil
		}
	}
	return 0, nil
}

// spec returns a job that writes its begin and its end into the ledger, and compresses or hashes data in
// between.
func (l *lab) spec(user string, n int, work string) api.Spec {
	book := l.ledger()
	return api.Spec{
		Name: user, Dir: "/", Output: "/dev/null", Key: fmt.Sprint(user, "-", n),
		Argv: []string{"/bin/sh", "-ec", fmt.Sprintf("%s; tail -c +$((FAIRLEAD_JOB * 997)) %s | head -c 40000 | %s; sleep 0.2; %s",
			book.note("b"), binary(l.t), work, book.note("e"))},
	}
}

// submit repeats a request until the server acknowledges it: the keys prevent duplicates.
func (l *lab) submit(client *api.Client, r api.SubmitRequest) {
	if len(r.Jobs) == 0 {
		return
	}
	for l.t.Context().Err() == nil {
		resp, err := client.Jobs.Submit(context.Background(), r)
		if err == nil {
			for _, j := range resp.Jobs {
				if j.Error != nil {
					l.t.Errorf("%s: %v", client.As, j.Error.Err())
				}
			}
			l.sent.Add(int64(len(resp.Jobs)))
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// askSome asks why for one waiting job of each pool, and recomputes each answer from its evidence.
func (l *lab) askSome() (asked int) {
	l.t.Helper()
	seen := map[string]bool{}
	for _, j := range list(l.t, l.client, "waiting") {
		if seen[j.Pool] {
			continue
		}
		a, err := l.client.Jobs.Why(l.t.Context(), j.ID, explain.WhyOptions{Evidence: true})
		if err != nil {
			l.t.Fatal(err)
		}
		if a.Evidence == nil {
			continue // the job has started meanwhile
		}
		seen[j.Pool] = true
		asked++
		for _, c := range replay.Verify(a, policy.Rule) {
			if !c.OK {
				l.t.Errorf("job %d: %s: %s\n%s", j.ID, c.What, c.Text, a.Text())
			}
		}
	}
	return asked
}
