package linear

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// history makes calls one after the other: the n-th from n to n+1 seconds, with leases of ten.
func history(calls ...Call) (out []*Call) {
	for i := range calls {
		c := calls[i]
		c.Job, c.TTL, c.Retries = 1, 10*time.Second, 1
		c.Begun, c.From = int64(10*i), time.Unix(int64(i), 0)
		if c.Done = c.Begun + 5; c.Unknown {
			c.Done = forever
		}
		c.To = time.Unix(int64(i+1), 0)
		out = append(out, &c)
	}
	return out
}

// late moves what comes from the n-th call on to a later time.
func late(calls []*Call, n int, d time.Duration) []*Call {
	for _, c := range calls[n:] {
		c.From, c.To = c.From.Add(d), c.To.Add(d)
	}
	return calls
}

var (
	lease1 = Call{Verb: Lease, Holder: "a", Attempt: 1}
	lease2 = Call{Verb: Lease, Holder: "b", Attempt: 2}
	done1  = Call{Verb: Finish, Attempt: 1, Outcome: fairlead.Succeeded}
	done2  = Call{Verb: Finish, Attempt: 2, Outcome: fairlead.Succeeded}
	stale1 = Call{Verb: Finish, Attempt: 1, Outcome: fairlead.Succeeded, Stale: true}
	fails1 = Call{Verb: Finish, Attempt: 1, Outcome: fairlead.Failed, Again: true}
	renew1 = Call{Verb: Renew, Attempt: 1}
	given1 = Call{Verb: Release, Attempt: 1}
	lost1  = Call{Verb: Expire, Attempt: 1}
	none   = Call{Verb: Expire}
	lostA  = Call{Verb: Expire, Holder: "a", Attempt: 1}
)

func unknown(c Call) Call { c.Unknown = true; return c }

// TestModel doctors histories: what must not happen is noticed, what may happen is not.
func TestModel(t *testing.T) {
	const over = 20 * time.Second
	for name, c := range map[string]struct {
		calls []*Call
		want  bool
	}{
		"one attempt":                            {history(lease1, renew1, done1, stale1), true},
		"two attempts, the first ends late":      {late(history(lease1, lost1, lease2, stale1, done2), 1, over), true},
		"a failure":                              {history(lease1, fails1, lease2, done2), true},
		"given back":                             {history(lease1, given1, lease2, done2), true},
		"its holder is said to be lost":          {history(lease1, lostA, lease2, done2), true},
		"seen as it is":                          {history(lease1, fails1, Call{Verb: Read, Seen: Seen{1, 1, 0, fairlead.Waiting}}), true},
		"a lease whose answer was lost":          {late(history(unknown(lease1), lost1, lease2, done2), 1, over), true},
		"an end whose answer was lost, it ended": {history(lease1, unknown(done1), Call{Verb: Read, Seen: Seen{1, 0, 0, fairlead.Succeeded}}), true},
		"and it did not":                         {history(lease1, unknown(done1), Call{Verb: Read, Seen: Seen{1, 0, 0, fairlead.Running}}), true},

		"completed twice":               {history(lease1, done1, done1), false},
		"completed by a stale attempt":  {late(history(lease1, lost1, lease2, done1), 1, over), false},
		"completed twice, once each":    {late(history(lease1, lost1, lease2, done1, done2), 1, over), false},
		"two holders":                   {history(lease1, lease2), false},
		"two holders of one attempt":    {history(lease1, lease1), false},
		"a stale attempt is renewed":    {late(history(lease1, lost1, lease2, renew1), 1, over), false},
		"a stale attempt gives it back": {late(history(lease1, lost1, lease2, given1), 1, over), false},
		"leased after its end":          {history(lease1, done1, lease2), false},
		"a valid attempt is refused":    {history(lease1, stale1), false},
		"it ran out too early":          {history(lease1, lost1), false},
		"though it was renewed":         {late(history(lease1, renew1, lost1), 1, 9*time.Second), false},
		"it does not run out":           {late(history(lease1, none), 1, over), false},
		"a number is left out":          {history(lease2), false},
		"seen otherwise":                {history(lease1, fails1, Call{Verb: Read, Seen: Seen{1, 0, 0, fairlead.Waiting}}), false},
		"tried too often":               {history(lease1, fails1, lease2, Call{Verb: Finish, Attempt: 2, Outcome: fairlead.Failed, Again: true}), false},
	} {
		r := Check(c.calls, time.Minute, "")
		if got := len(r.Bad) == 0; got != c.want || r.Undecided > 0 {
			t.Errorf("%s: linearizable: %v, want %v (%+v)", name, got, c.want, r)
		}
	}
}

// TestConcurrentCalls: of calls at the same time any order will do.
func TestConcurrentCalls(t *testing.T) {
	calls := history(lease1, stale1, done1)
	calls[1].Done = calls[2].Done
	if r := Check(calls, time.Minute, ""); len(r.Bad) > 0 {
		t.Errorf("the end that was accepted may have come first: %+v", r)
	}
	calls = history(done1, lease1)
	calls[0].Done = calls[1].Begun
	if r := Check(calls, time.Minute, ""); len(r.Bad) > 0 {
		t.Errorf("they touch: %+v", r)
	}
}
