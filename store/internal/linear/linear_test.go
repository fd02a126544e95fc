package linear

import (
	"flag"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// history makes calls one after the other: the n-th lasts from n to n+1 seconds, with leases of ten seconds.
// A call without an answer may take effect at any later time, or until the end of the n-th call if Done is n.
func history(calls ...Call) (out []*Call) {
	for i := range calls {
		c := calls[i]
		c.N, c.Job, c.TTL, c.Retries = i, 1, 10*time.Second, 1
		c.Begun, c.From = int64(10*i), time.Unix(int64(i), 0)
		switch last := int(c.Done); {
		case !c.Unknown:
			c.Done, c.To = int64(10*i+5), time.Unix(int64(i+1), 0)
		case last == 0:
			c.Done = forever
		default:
			c.Done, c.To = int64(10*last+5), time.Unix(int64(last+1), 0)
		}
		out = append(out, &c)
	}
	return out
}

// late delays all events from the beginning of the n-th call on.
func late(calls []*Call, n int, d time.Duration) []*Call {
	from := calls[n].From
	for _, c := range calls {
		if !c.From.Before(from) {
			c.From = c.From.Add(d)
		}
		if c.To.After(from) {
			c.To = c.To.Add(d)
		}
	}
	return calls
}

var (
	lease1 = Call{Verb: Lease, Holder: "a", Attempt: 1}
	lease2 = Call{Verb: Lease, Holder: "b", Attempt: 2}
	done1  = Call{Verb: Finish, Attempt: 1, Outcome: queue.Succeeded}
	done2  = Call{Verb: Finish, Attempt: 2, Outcome: queue.Succeeded}
	stale1 = Call{Verb: Finish, Attempt: 1, Outcome: queue.Succeeded, Stale: true}
	fails1 = Call{Verb: Finish, Attempt: 1, Outcome: queue.Failed, Again: true}
	renew1 = Call{Verb: Renew, Attempt: 1}
	given1 = Call{Verb: Release, Attempt: 1}
	lost1  = Call{Verb: Expire, Attempt: 1}
	none   = Call{Verb: Expire}
	open1  = Call{Verb: Open}
	lostA  = Call{Verb: Expire, Holder: "a", Attempt: 1}
)

// unknown returns a call without an answer, which may take effect at any later time.
func unknown(c Call) Call { c.Unknown = true; return c }

// until returns a call that takes effect before the end of the n-th call, or never.
func until(n int, c Call) Call { c.Unknown, c.Done = true, int64(n); return c }

// read returns a read of the task, with its answer.
func read(attempt, fails, losses int, state queue.State) Call {
	return Call{Verb: Read, Seen: Seen{attempt, fails, losses, state}}
}

// TestModel checks invented histories: it must detect impossible histories, and accept possible ones.
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
		"seen as it is":                          {history(lease1, fails1, Call{Verb: Read, Seen: Seen{1, 1, 0, queue.Waiting}}), true},
		"a lease whose answer was lost":          {late(history(unknown(lease1), lost1, lease2, done2), 1, over), true},
		"an end whose answer was lost, it ended": {history(lease1, unknown(done1), Call{Verb: Read, Seen: Seen{1, 0, 0, queue.Succeeded}}), true},
		"and it did not":                         {history(lease1, unknown(done1), Call{Verb: Read, Seen: Seen{1, 0, 0, queue.Running}}), true},

		"opened anew, it runs out":         {late(history(lease1, open1, lost1, lease2), 2, over), true},
		"opened anew, it does not run out": {late(history(lease1, open1, none), 2, 9*time.Second), true},

		"opened anew, it ran out too early": {late(history(lease1, open1, lost1), 2, 7*time.Second), false},
		"completed twice":                   {history(lease1, done1, done1), false},
		"completed by a stale attempt":      {late(history(lease1, lost1, lease2, done1), 1, over), false},
		"completed twice, once each":        {late(history(lease1, lost1, lease2, done1, done2), 1, over), false},
		"two holders":                       {history(lease1, lease2), false},
		"two holders of one attempt":        {history(lease1, lease1), false},
		"a stale attempt is renewed":        {late(history(lease1, lost1, lease2, renew1), 1, over), false},
		"a stale attempt gives it back":     {late(history(lease1, lost1, lease2, given1), 1, over), false},
		"leased after its end":              {history(lease1, done1, lease2), false},
		"a valid attempt is refused":        {history(lease1, stale1), false},
		"it ran out too early":              {history(lease1, lost1), false},
		"though it was renewed":             {late(history(lease1, renew1, lost1), 1, 9*time.Second), false},
		"it does not run out":               {late(history(lease1, none), 1, over), false},
		"a number is left out":              {history(lease2), false},
		"seen otherwise":                    {history(lease1, fails1, Call{Verb: Read, Seen: Seen{1, 0, 0, queue.Waiting}}), false},
		"tried too often":                   {history(lease1, fails1, lease2, Call{Verb: Finish, Attempt: 2, Outcome: queue.Failed, Again: true}), false},
	} {
		r := Check(c.calls, time.Minute, "")
		if got := len(r.Bad) == 0; got != c.want || r.Undecided > 0 {
			t.Errorf("%s: linearizable: %v, want %v (%+v)", name, got, c.want, r)
		}
	}
}

// TestUnanswered checks invented histories with calls without an answer: each may have taken effect once,
// when the store would have allowed it, or never.
func TestUnanswered(t *testing.T) {
	const over = 20 * time.Second
	lost, renewed := read(1, 0, 1, queue.Waiting), unknown(renew1)
	for name, c := range map[string]struct {
		calls []*Call
		want  bool
	}{
		"an expiry, of which no end is known":             {late(history(lease1, unknown(none), lost), 1, over), true},
		"an expiry that began long before":                {late(history(lease1, unknown(none), lost), 2, over), true},
		"an expiry that began before the lease":           {late(history(unknown(none), lease1, lost), 2, over), true},
		"an expiry that did nothing":                      {late(history(lease1, unknown(none), read(1, 0, 0, queue.Running)), 2, over), true},
		"two expiries, two losses":                        {late(late(history(lease1, unknown(none), lost, lease2, unknown(none), read(2, 0, 2, queue.Waiting)), 2, over), 4, over), true},
		"an expiry of a holder":                           {history(lease1, unknown(Call{Verb: Expire, Holder: "a"}), lost), true},
		"an expiry, of which the end is known":            {late(history(lease1, until(2, none), lost), 1, over), true},
		"an expiry whose effect was seen before it ended": {late(history(lease1, until(3, none), lost, stale1), 2, over), true},
		"a renewal, and then it does not run out":         {late(history(lease1, renewed, none), 2, 9*time.Second), true},
		"a renewal that did nothing":                      {late(history(lease1, renewed, lost1), 2, 9*time.Second), true},
		"an attempt given back":                           {history(lease1, unknown(given1), lease2, done2), true},
		"a lease that was taken later":                    {history(unknown(lease1), read(0, 0, 0, queue.Waiting), done1), true},

		"an expiry too early":                              {history(lease1, unknown(none), lost), false},
		"an expiry too early, and later it would not be":   {late(history(lease1, unknown(none), lost, stale1), 3, over), false},
		"an expiry too early for the next lease":           {late(history(lease1, unknown(none), lease2, stale1), 3, over), false},
		"an expiry that was over too early":                {late(history(lease1, until(2, none), stale1, lost), 3, over), false},
		"an expiry that was over before the lease ran out": {late(history(lease1, until(1, none), lost), 2, over), false},
		"one expiry, two losses":                           {late(late(history(lease1, unknown(none), lost, lease2, read(2, 0, 2, queue.Waiting)), 2, over), 4, over), false},
		"an expiry of another holder":                      {history(lease1, unknown(Call{Verb: Expire, Holder: "b"}), lost), false},
		"a renewal, long before":                           {late(history(lease1, until(1, renew1), none), 2, over), false},
		"a renewal that comes late shortens a lease":       {late(history(unknown(renew1), lease1, lost1), 2, 7*time.Second), false},
		"a renewal of another attempt":                     {late(history(lease1, unknown(Call{Verb: Renew, Attempt: 2}), none), 2, over), false},
		"an end that was seen only after it was over":      {history(lease1, until(1, done1), read(1, 0, 0, queue.Running), read(1, 0, 0, queue.Succeeded)), false},
	} {
		r := Check(c.calls, time.Minute, "")
		if got := len(r.Bad) == 0; got != c.want || r.Undecided > 0 {
			t.Errorf("%s: linearizable: %v, want %v (%+v)", name, got, c.want, r)
		}
	}
}

var kept = flag.String("calls", "", "a file with the calls of a history, which TestKeptCalls checks again")

// TestKeptCalls checks the stored calls of a failed history again, with the same result.
func TestKeptCalls(t *testing.T) {
	file := *kept
	if file == "" {
		before := Check(late(history(lease1, unknown(none), lease2, done1), 2, time.Minute), time.Minute, t.TempDir())
		if file = before.Kept; len(before.Bad) != 1 || file == "" {
			t.Fatalf("an end by a stale attempt: %+v", before)
		}
	}
	calls, err := ReadCalls(file)
	if err != nil {
		t.Fatal(err)
	}
	r := Check(calls, 10*time.Minute, t.TempDir())
	if t.Logf("%d calls of %d tasks", r.Calls, r.Tasks); *kept != "" && r.String() != "" {
		t.Error(r)
	}
	if *kept == "" && (r.Calls != 4 || len(r.Bad) != 1) {
		t.Errorf("not as before: %+v", r)
	}
}

// TestConcurrentCalls checks that calls at the same time may have any order.
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
