package forecast

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// Variation is a changed request of a job. Fields that are not set stay the same.
type Variation struct {
	Limit      *time.Duration // [queue.NoLimit] is none
	Request    queue.Amounts  // only the named resources change
	Constraint *string
	Licenses   map[string]int64 // replaces all licenses, if not nil
	Pool       *string
	Priority   *string
	QOS        *string
	Nice       *int
	// By is as in [engine.SubmitOptions], but only for rights, not for limits.
	By *access.Principal
}

// inPlace reports whether a waiting job can be changed in this way. Its time limit can be changed while none of its
// tasks runs.
func (v *Variation) inPlace(j *queue.Job) bool {
	return (v.Limit == nil || j.Running == 0) && len(v.Request) == 0 && v.Constraint == nil && v.Licenses == nil
}

// apply returns the job with the variation, as it would be submitted.
func (v *Variation) apply(j *queue.Job) queue.Job {
	next := *j
	switch {
	case v.Limit != nil:
		next.Limit = *v.Limit
	case v.Pool == nil: // a pool's default limit applies only in another pool
		next.Limit = cmp.Or(j.Limit, queue.NoLimit)
	}
	if len(v.Request) > 0 {
		next.Request = queue.Amounts(maps.Clone(map[string]int64(j.Request)))
		if next.Request == nil {
			next.Request = queue.Amounts{}
		}
		for name, n := range v.Request {
			next.Request[name] = n
		}
		maps.DeleteFunc(next.Request, func(_ string, n int64) bool { return n == 0 })
	}
	if v.Licenses != nil {
		next.Licenses = v.Licenses
	}
	setIf(&next.Constraint, v.Constraint)
	setIf(&next.Pool, v.Pool)
	setIf(&next.Priority, v.Priority)
	setIf(&next.QOS, v.QOS)
	setIf(&next.Nice, v.Nice)
	return next
}

func setIf[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// varied describes the differences of two jobs in words.
func varied(a, b *queue.Job, unit string) []why.Varied {
	all := []why.Varied{}
	note := func(field, from, to string) {
		if from != to {
			all = append(all, why.Varied{Field: field, From: cmp.Or(from, "none"), To: cmp.Or(to, "none")})
		}
	}
	note("time limit", limitWords(a.Limit), limitWords(b.Limit))
	names := map[string]bool{}
	for name := range a.Request {
		names[name] = true
	}
	for name := range b.Request {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		least := int64(0)
		if name == unit {
			least = 1
		}
		note(name, units.Quantity(name, max(least, a.Request[name])), units.Quantity(name, max(least, b.Request[name])))
	}
	note("constraint", a.Constraint, b.Constraint)
	note("licenses", counted(a.Licenses), counted(b.Licenses))
	note("pool", a.Pool, b.Pool)
	note("priority", a.Priority, b.Priority)
	note("qos", a.QOS, b.QOS)
	note("nice", strconv.Itoa(a.Nice), strconv.Itoa(b.Nice))
	return all
}

func limitWords(d time.Duration) string {
	if d <= 0 {
		return "none"
	}
	return units.FormatDuration(d)
}

// counted lists names with their numbers, in the form of flags.
func counted(of map[string]int64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, name+":"+strconv.FormatInt(of[name], 10))
	}
	return strings.Join(parts, ",")
}
