package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/fairlead/fairlead"
)

// outcome is an image with the instants that the database noted. One that has not begun or not
// ended at the end of the run did so then at the earliest.
type outcome struct {
	why                       string
	submitted, started, ended time.Time
	began                     bool
}

// measure reads what became of the jobs of each tenant until the end of the run.
func (s *scene) measure(ctx context.Context, end time.Time) error {
	const page = 5000
	s.measured = map[string][]outcome{}
	for _, tenant := range append([]string{large}, small...) {
		for after, more := int64(0), true; more; {
			jobs, err := s.client.Jobs(ctx, fairlead.Query{User: tenant, After: after, Limit: page})
			if err != nil {
				return err
			}
			for _, j := range jobs {
				if after = j.ID; j.State == fairlead.Failed {
					return fmt.Errorf("job %d has failed: %s", j.ID, j.Cause)
				}
				m := outcome{j.Name, j.Submitted, j.Started, j.Ended, !j.Started.IsZero() && j.Started.Before(end)}
				if !m.began {
					m.started = end
				}
				if j.Ended.IsZero() || j.Ended.After(end) {
					m.ended = end
				}
				s.measured[tenant] = append(s.measured[tenant], m)
			}
			more = len(jobs) == page
		}
	}
	return nil
}

// all are the images that were submitted for a reason.
func (s *scene) all(why string) (all []outcome) {
	for _, images := range s.measured {
		for _, m := range images {
			if m.why == why {
				all = append(all, m)
			}
		}
	}
	return all
}

// waits are for how long images of tenants waited, the shortest first; those of the small
// tenants that they submitted one by one.
func (s *scene) waits(tenants ...string) (waits []time.Duration) {
	for _, tenant := range tenants {
		for _, m := range s.measured[tenant] {
			if m.why != rushing {
				waits = append(waits, m.started.Sub(m.submitted))
			}
		}
	}
	slices.Sort(waits)
	return waits
}

// began is how many of those began, and how to mark a quantile of their waits that is only known
// to be so long at least.
func (s *scene) began(tenant string) (began int, atLeast func(q float64) string) {
	all := 0
	for _, m := range s.measured[tenant] {
		if m.why != rushing {
			all++
			if m.began {
				began++
			}
		}
	}
	return began, func(q float64) string {
		if began < all && q*float64(all) > float64(began)-0.5 {
			return ">"
		}
		return ""
	}
}

// lengths are how long the images took that began while the small tenants submitted theirs one
// by one.
func (s *scene) lengths() (lengths []time.Duration) {
	from, to := span(s.all(pacing))
	for _, images := range s.measured {
		for _, m := range images {
			if m.began && m.started.After(from) && m.started.Before(to) {
				lengths = append(lengths, m.ended.Sub(m.started))
			}
		}
	}
	slices.Sort(lengths)
	return lengths
}

// span is when the first and the last of some images were submitted.
func span(all []outcome) (first, last time.Time) {
	for _, m := range all {
		if first.IsZero() || m.submitted.Before(first) {
			first = m.submitted
		}
		last = later(last, m.submitted)
	}
	return first, last
}

// parts are what each tenant received while all of them had work, as fractions of what all
// received, and for how long that was: from the rush of the small ones on, until nothing of one
// of them waited any more.
func (s *scene) parts() (parts map[string]float64, lasted time.Duration) {
	_, from := span(s.all(rushing))
	to := from.Add(24 * time.Hour)
	for _, images := range s.measured {
		last := time.Time{}
		for _, m := range images {
			last = later(last, m.started)
		}
		to = earlier(to, last) // or else the end of the run
	}
	parts, all := map[string]float64{}, 0.0
	for tenant, images := range s.measured {
		for _, m := range images {
			if had := earlier(m.ended, to).Sub(later(m.started, from)).Seconds(); had > 0 {
				parts[tenant] += had
				all += had
			}
		}
	}
	for tenant := range parts {
		parts[tenant] /= all
	}
	return parts, to.Sub(from)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// of is a quantile of sorted durations.
func of(q float64, sorted []time.Duration) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))].Round(100 * time.Microsecond)
}

// compare runs the load without the flood, with it under fair and with it under fifo, and
// prints how long each tenant waited.
func compare(ctx context.Context, o options) error {
	quiet := o
	quiet.flood = 0
	queue := o
	queue.policy = "fifo"
	var scenes []*scene
	for _, next := range []struct {
		name string
		options
	}{{"quiet", quiet}, {"fair", o}, {"fifo", queue}} {
		s, err := play(ctx, next.options, next.name)
		if err != nil {
			return err
		}
		scenes = append(scenes, s)
	}
	fmt.Println()
	tell(scenes)
	return judge(scenes[0], scenes[1])
}

// tell prints the table.
func tell(scenes []*scene) {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\ttenant\timages\tbegan\twaited p50\tp95\tlongest\tan image takes\tshare while all have work\t")
	for _, s := range scenes {
		parts, _ := s.parts()
		for _, tenant := range append([]string{large}, small...) {
			waits := s.waits(tenant)
			if len(waits) == 0 {
				continue
			}
			share := ""
			if s.flood > 0 {
				share = fmt.Sprintf("%.1f%%", 100*parts[tenant])
			}
			began, atLeast := s.began(tenant)
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s%v\t%s%v\t%s%v\t%v\t%s\t\n", s.name, tenant, len(waits), began,
				atLeast(0.5), of(0.5, waits), atLeast(0.95), of(0.95, waits), atLeast(1), of(1, waits), of(0.5, s.lengths()), share)
		}
	}
	t.Flush()
}

// judge says whether the small tenants noticed the flood. What runs is not taken back for them,
// so that a job that comes while all slots are busy waits for the first of them to be free: if
// they hardly waited before, their waits may grow by one image, and not more.
func judge(quiet, fair *scene) error {
	before, now, image := of(0.95, quiet.waits(small...)), of(0.95, fair.waits(small...)), of(0.95, fair.lengths())
	most := max(2*before, before+image)
	parts, lasted := fair.parts()
	worst := 0.0
	for _, part := range parts {
		worst = max(worst, part-1.0/3, 1.0/3-part)
	}
	fmt.Printf("\nThe small tenants waited %v without the flood and %v with it (p95); twice as long, or one image (%v) longer, is %v.\n", before, now, image, most)
	fmt.Printf("While all had work, for %v, nobody's share was further than %.1f points from a third.\n", lasted.Round(100*time.Millisecond), 100*worst)
	switch {
	case !fair.check:
		return nil
	case now > max(most, fair.floor):
		return errors.New("the small tenants waited too long")
	case worst > 0.05:
		return errors.New("somebody did not get a third")
	}
	return nil
}
