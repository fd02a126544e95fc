package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// measure reads the outcomes of the jobs of each tenant until the end of the run.
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

// all returns the images that were submitted for a reason.
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

// waits returns the waits of the tenants' images, the shortest first, without the rush of the small tenants.
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

// began returns the number of images of a tenant that began, and a function that marks a quantile of their
// waits if only a lower bound of it is known.
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
		if began < all && quantileAt(q, all) >= began {
			return ">"
		}
		return ""
	}
}

// lengths returns the run times of the images that began while the small tenants submitted theirs one by one.
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

// parts returns the fractions of the service that each tenant received while all of them had work, and the
// length of that time. The time begins with the rush of the small tenants, and ends when one of them has no
// waiting image left.
func (s *scene) parts() (parts map[string]float64, lasted time.Duration) {
	_, from := span(s.all(rushing))
	to := from.Add(24 * time.Hour)
	for _, images := range s.measured {
		last := time.Time{}
		for _, m := range images {
			last = later(last, m.started)
		}
		to = earlier(to, last) // the end of the run, if an image has not begun
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

// span returns the instants at which the first and the last of some images were submitted.
func span(all []outcome) (first, last time.Time) {
	for _, m := range all {
		if first.IsZero() || m.submitted.Before(first) {
			first = m.submitted
		}
		last = later(last, m.submitted)
	}
	return first, last
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

// of returns a quantile of sorted durations.
func of(q float64, sorted []time.Duration) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[quantileAt(q, len(sorted))].Round(100 * time.Microsecond)
}

// quantileAt returns the index of a quantile among n sorted values.
func quantileAt(q float64, n int) int { return min(n-1, int(q*float64(n))) }
