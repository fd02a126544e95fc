package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

func submitGivesGrowingIDs(s *suite) {
	var all []int64
	for range 3 {
		all = append(all, s.submit(job(), job(), job())...)
	}
	if !slices.IsSorted(all) || len(slices.Compact(all)) != 9 || all[0] < 1 {
		s.t.Fatalf("ids %v", all)
	}
}

func submitKeepsEveryField(s *suite) {
	first := s.submit(job())[0]
	begin := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	in := &queue.Job{
		Name: "näme", Kind: "k", User: "ann", Group: "g", Requestor: "land/x", Pool: "a/b", Priority: "high", QOS: "urgent", Nice: -5,
		Argv: []string{"sh", "-c", "echo $X"}, Payload: []byte{0, 1, 255}, Script: true, Env: map[string]string{"X": "1\n2"},
		Dir: "/tmp", Output: "o.txt", Error: "e.txt", Request: queue.Amounts{"cpu": 2, "mem": 1 << 30, "gpu:a100": 1}, Constraint: "rack=b|c & !old", Reservation: "course",
		Licenses: queue.Amounts{"matlab": 2}, Rates: []string{"linkedin"},
		Limit: time.Hour, Begin: begin, Retries: 3, Backoff: time.Second, Array: "1-5:2,9", MaxRunning: 2,
		After: []queue.Dependency{{Job: first, On: queue.OnAny}}, Key: "key", Held: true,
	}
	got := s.get(s.submit(in)[0])
	if time.Since(got.Submitted) > time.Minute || time.Since(got.Submitted) < -time.Second {
		s.t.Errorf("submitted %v", got.Submitted)
	}
	if gang := s.get(s.submit(gangOf(4, func(j *queue.Job) { j.Spread = true }))[0]); gang.Gang != 4 || !gang.Spread || gang.Numbers().At(3) != 3 {
		s.t.Errorf("gang %+v", gang)
	}
	want := *in
	want.ID, want.Submitted, want.State = got.ID, got.Submitted, queue.Held
	want.Tasks, want.Waiting, want.Pending, want.HeldBy = 4, 4, 1, "ann"
	if !got.Begin.Equal(begin) {
		s.t.Errorf("begin %v, want %v", got.Begin, begin)
	}
	got.Begin = want.Begin
	if a, b := fmt.Sprintf("%+v", *got), fmt.Sprintf("%+v", want); a != b {
		s.t.Errorf("got  %s\nwant %s", a, b)
	}
}

func submitRefusesOnlyTheBad(s *suite) {
	subs, err := s.Submit(s.ctx, []*queue.Job{
		job(),
		job(func(j *queue.Job) { j.Name = "\x1b[31mred" }),
		job(func(j *queue.Job) { j.Array = "0-999999999999" }),
		job(func(j *queue.Job) { j.After = []queue.Dependency{{Job: 999}} }),
		job(func(j *queue.Job) { j.Payload = make([]byte, queue.MaxPayload+1) }),
		job(),
	})
	s.must(err)
	for i, want := range []error{nil, queue.ErrInvalid, queue.ErrInvalid, queue.ErrNotFound, queue.ErrInvalid, nil} {
		if !errors.Is(subs[i].Err, want) || want == nil && subs[i].Err != nil {
			s.t.Errorf("job %d: %v, want %v", i, subs[i].Err, want)
		}
	}
	if jobs, _ := s.Jobs(s.ctx, queue.Query{}); len(jobs) != 2 {
		s.t.Errorf("%d jobs are there, want 2", len(jobs))
	}
}

func submitIsIdempotentByKey(s *suite) {
	keyed := func(user, key string) *queue.Job {
		return job(func(j *queue.Job) { j.User, j.Key = user, key })
	}
	first := s.submit(keyed("ann", "k"))[0]
	subs, err := s.Submit(s.ctx, []*queue.Job{keyed("ann", "k"), keyed("bob", "k"), keyed("ann", "k2"), keyed("ann", "k2")})
	s.must(err)
	if subs[0].ID != first || !subs[0].Existing {
		s.t.Errorf("the same key gave %+v, want job %d again", subs[0], first)
	}
	if subs[1].Existing || subs[1].ID == first {
		s.t.Error("another user's key is another key")
	}
	if subs[3].ID != subs[2].ID || !subs[3].Existing {
		s.t.Error("the same key twice in one call made two jobs")
	}
	s.finish(s.take(first).Ref, ok)
	if again := s.submit(keyed("ann", "k"))[0]; again != first {
		s.t.Error("the key is forgotten when the job has ended")
	}
}

// keyOfAnotherJob: a key identifies the first submission with it, and another digest is refused if both have one.
func keyOfAnotherJob(s *suite) {
	with := func(key, digest string) *queue.Job {
		return job(func(j *queue.Job) { j.Key, j.Digest = key, digest })
	}
	first := s.submit(with("k", "x"), with("plain", ""))
	refused := func(sub queue.Submission, id int64) bool {
		var k *queue.KeyError
		return errors.Is(sub.Err, queue.ErrKeyUsed) && errors.As(sub.Err, &k) && k.Job == id && sub.ID == 0 && !sub.Existing
	}
	again := func(when string) {
		s.t.Helper()
		subs, err := s.Submit(s.ctx, []*queue.Job{with("k", "x"), with("k", "y"), with("k", ""), with("plain", "z"), with("k2", "a"), with("k2", "b"), with("k2", "a")})
		s.must(err)
		if subs[0].ID != first[0] || !refused(subs[1], first[0]) || subs[2].ID != first[0] || subs[3].ID != first[1] || subs[4].Err != nil || !refused(subs[5], subs[4].ID) || subs[6].ID != subs[4].ID {
			s.t.Errorf("%s: %+v", when, subs)
		}
		for _, i := range []int{0, 2, 3, 6} {
			if !subs[i].Existing || subs[i].Err != nil {
				s.t.Errorf("%s: number %d: %+v", when, i, subs[i])
			}
		}
	}
	again("while it waits")
	s.finish(s.take(first[0]).Ref, ok)
	again("when it has ended")
	once := func(digest string) *queue.Job {
		j := with("once", digest)
		j.KeyUntilEnd = true
		return j
	}
	id := s.submit(once("x"))[0]
	if same := s.submit(once("y"))[0]; same != id {
		s.t.Errorf("with KeyUntilEnd: job %d, want %d", same, id)
	}
	s.finish(s.take(id).Ref, ok)
	id = s.submit(once("y"))[0]
	subs, err := s.Submit(s.ctx, []*queue.Job{with("once", "x"), with("once", "y")})
	s.must(err)
	if !refused(subs[0], id) || subs[1].ID != id {
		s.t.Errorf("the key of a later job: %+v, want %d", subs, id)
	}
	if got := s.get(id); got.Digest != "" {
		s.t.Errorf("the job has the digest %q", got.Digest)
	}
}

// keyUntilEnd: at most one job with the key waits or runs.
func keyUntilEnd(s *suite) {
	once := func(user, key string) *queue.Job {
		return job(func(j *queue.Job) { j.User, j.Key, j.KeyUntilEnd = user, key, true })
	}
	first := s.submit(once("ann", "k"))[0]
	if again := s.submit(once("ann", "k"))[0]; again != first {
		s.t.Error("a second job was added while the first waits")
	}
	l := s.take(first)
	if again := s.submit(once("ann", "k"))[0]; again != first {
		s.t.Error("a second job was added while the first runs")
	}
	s.finish(l.Ref, ok)
	subs, err := s.Submit(s.ctx, []*queue.Job{once("ann", "k"), once("bob", "k"), once("ann", "k")})
	s.must(err)
	if subs[0].Existing || subs[0].ID == first || subs[2].ID != subs[0].ID || !subs[2].Existing {
		s.t.Errorf("after the end of job %d: %+v", first, subs)
	}
	s.finish(s.take(subs[0].ID).Ref, ok)
	plain := once("ann", "k")
	plain.KeyUntilEnd = false
	if again := s.submit(plain)[0]; again != subs[0].ID {
		s.t.Errorf("without KeyUntilEnd the key is that of job %d, want %d", again, subs[0].ID)
	}
	jobs, err := s.Jobs(s.ctx, queue.Query{IDs: []int64{subs[0].ID}})
	if s.must(err); len(jobs) != 1 || !jobs[0].KeyUntilEnd {
		s.t.Errorf("the submission is not kept: %+v", jobs)
	}
}

func leaseTakesEachTaskOnce(s *suite) {
	id := s.submit(job())[0]
	l := s.take(id)
	if l.JobID != id || l.Task != 0 || l.Attempt != 1 || l.Holder != "agent" || l.Job.Argv[0] != "true" {
		s.t.Errorf("lease %+v of %+v", l, l.Job)
	}
	if d := time.Until(l.Until); d > ttl || d < ttl-10*time.Second {
		s.t.Errorf("the lease is for %v, want %v", d, ttl)
	}
	if j := s.state(id, queue.Running); j.Waiting != 0 || j.Running != 1 || j.Started.IsZero() {
		s.t.Errorf("job %+v", j)
	}
	if g := s.lease(id)[0]; g.Lease != nil || len(g.Waiting) != 0 {
		s.t.Errorf("leased twice: %+v", g)
	}
}

func leaseIsLost(s *suite) {
	held := s.submit(job(func(j *queue.Job) { j.Held = true }))[0]
	for _, g := range s.lease(held, 12345) {
		if g.Lease != nil {
			s.t.Errorf("leased %+v", g.Lease)
		}
	}
}

func leaseRespectsBegin(s *suite) {
	begin := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	id := s.submit(job(func(j *queue.Job) { j.Begin, j.Array = begin, "0-2" }))[0]
	g := s.lease(id)[0]
	if g.Lease != nil {
		s.t.Fatal("leased before its begin time")
	}
	if len(g.Waiting) != 1 || g.Waiting[0].Tasks != 3 || !g.Waiting[0].Begin.Equal(begin) {
		s.t.Errorf("waits %+v, want 3 tasks from %v", g.Waiting, begin)
	}
}

func leaseRespectsMax(s *suite) {
	id := s.submit(job(func(j *queue.Job) { j.Array = "0-9%2" }))[0]
	g := s.lease(id, id, id)
	if g[0].Lease == nil || g[1].Lease == nil || g[2].Lease != nil {
		s.t.Fatalf("of 3 wants of a job that may run 2 tasks: %+v", g)
	}
	if len(g[2].Waiting) != 1 || g[2].Waiting[0].Tasks != 8 {
		s.t.Errorf("waits %+v, want 8 tasks", g[2].Waiting)
	}
	s.finish(g[0].Lease.Ref, ok)
	if l := s.take(id); l.Task != 2 {
		s.t.Errorf("task %d, want 2", l.Task)
	}
}

func concurrentClaims(s *suite) {
	const jobs, claimers = 200, 8
	var ids []int64
	for range jobs {
		ids = append(ids, s.submit(job())...)
	}
	won := make(chan int64, jobs*claimers)
	done := make(chan error, claimers)
	for c := range claimers {
		go func() {
			for i := range ids {
				g, err := s.Lease(s.ctx, fmt.Sprint("agent", c), []queue.Want{{Job: ids[(i+c*31)%jobs]}}, ttl)
				if err != nil {
					done <- err
					return
				}
				if g[0].Lease != nil {
					won <- g[0].Lease.JobID
				}
			}
			done <- nil
		}()
	}
	for range claimers {
		s.must(<-done)
	}
	close(won)
	claims := map[int64]int{}
	for id := range won {
		claims[id]++
	}
	for _, id := range ids {
		if claims[id] != 1 {
			s.t.Errorf("job %d was claimed %d times", id, claims[id])
		}
	}
}
