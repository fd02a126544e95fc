package rabbitmq

import (
	"cmp"
	"context"
	"fmt"

	"github.com/fairlead/fairlead/internal/bridge"
)

// Look implements bridge.QS.
func (q *Queue) Look(ctx context.Context, all []bridge.Entry) ([]bridge.Status, error) {
	l, err := q.up(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]bridge.Status, len(all))
	absent := false
	for i, e := range all {
		out[i] = l.state(e)
		absent = absent || out[i].Phase == bridge.Absent
	}
	if !absent {
		return out, nil
	}
	// An entry counts as absent only after all messages were heard: receipts first, because each entry with a
	// report has, or had, a receipt.
	for _, queue := range []string{"receipts", "reports"} {
		if err := l.barrier(ctx, queue); err != nil {
			return nil, explain(&q.options, fmt.Errorf("read %s: %w", queue, err))
		}
	}
	for i, e := range all {
		out[i] = l.state(e)
	}
	return out, nil
}

// state returns the status of an entry. Absent is certain only if all messages were heard.
func (l *live) state(e bridge.Entry) bridge.Status {
	if end := l.q.reports.End(e.Marker); end != nil {
		s := end.Status()
		s.ID = cmp.Or(e.ID, e.Marker)
		return s
	}
	if l.q.reports.IsForgotten(e.Marker) {
		return bridge.Status{Phase: bridge.Absent, Says: "it has ended, and its end was reported"}
	}
	if d, dropped := l.droppedAs(e.Marker); dropped {
		return bridge.Status{Phase: bridge.Absent, Says: d.text()}
	}
	l.q.mu.Lock()
	exam := l.q.exam
	there := exam[e.Marker]
	l.q.mu.Unlock()
	if started := l.q.reports.Started(e.Marker); started != nil && (e.ID != "" || l.hasReceipt(e.Marker)) {
		s := started.Status()
		s.ID = e.Marker
		return s
	}
	if e.ID != "" && (exam == nil || there) || e.ID == "" && l.hasReceipt(e.Marker) {
		return bridge.Status{Phase: bridge.Pending, ID: e.Marker, Says: "in the queue " + l.q.options.Queue}
	}
	return bridge.Status{Phase: bridge.Absent, Says: "there is no such message"}
}

// Forget implements bridge.QS.
func (q *Queue) Forget(ctx context.Context, all []bridge.Entry) error {
	l, err := q.up(ctx)
	if err != nil {
		return err
	}
	for _, e := range all {
		for _, tag := range q.reports.Forget(e.Marker) {
			if err := l.read.Ack(tag, false); err != nil {
				return explain(&q.options, fmt.Errorf("acknowledge a report: %w", err))
			}
		}
		if err := l.dropReceipt(e.Marker); err != nil {
			return explain(&q.options, fmt.Errorf("acknowledge a receipt: %w", err))
		}
		if err := l.forgetDrop(e.Marker); err != nil {
			return explain(&q.options, fmt.Errorf("acknowledge a dropped job: %w", err))
		}
		q.mu.Lock()
		delete(q.exam, e.Marker)
		delete(q.cancelled, e.Marker)
		q.mu.Unlock()
	}
	return nil
}
