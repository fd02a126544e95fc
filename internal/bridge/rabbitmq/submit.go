package rabbitmq

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/queue"
)

// Submit implements bridge.QS.
func (q *Queue) Submit(ctx context.Context, all []bridge.Submission) ([]bridge.Receipt, error) {
	q.order.Lock()
	defer q.order.Unlock()
	l, err := q.upOrdered(ctx)
	if err != nil {
		return nil, err
	}
	receipts := make([]bridge.Receipt, 0, len(all))
	for len(all) > 0 {
		n := min(batch, len(all))
		receipts = append(receipts, l.submit(ctx, all[:n])...)
		all = all[n:]
	}
	for _, r := range receipts {
		if errors.Is(r.Err, bridge.ErrUnsure) {
			// Messages under way end with the connection. Until then nobody has the session.
			l.close()
			break
		}
	}
	return receipts, nil
}

// submit publishes submissions, and waits for their confirmations.
func (l *live) submit(ctx context.Context, all []bridge.Submission) []bridge.Receipt {
	receipts := make([]bridge.Receipt, len(all))
	pending := make([]*amqp.DeferredConfirmation, len(all))
	for i := range all {
		pending[i], receipts[i].Err = l.send(ctx, &all[i])
	}
	for i, c := range pending {
		if c == nil {
			continue
		}
		ok, err := c.WaitContext(ctx)
		switch {
		case err != nil:
			receipts[i].Err = fmt.Errorf("%w: %w", bridge.ErrUnsure, err)
		case !ok:
			receipts[i].Err = fmt.Errorf("%w: RabbitMQ did not confirm it", bridge.ErrUnsure)
		default:
			receipts[i].ID = all[i].Marker
		}
	}
	l.unroutable(all, receipts)
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	for i := range receipts {
		if receipts[i].ID != "" && l.q.exam != nil {
			l.q.exam[all[i].Marker] = true
		}
	}
	return receipts
}

// send publishes a submission, and returns its pending confirmation.
func (l *live) send(ctx context.Context, s *bridge.Submission) (*amqp.DeferredConfirmation, error) {
	if s.Priority < 0 || s.Priority > int64(l.q.options.Priorities) {
		return nil, bridge.Explain(queue.ErrInvalid, "priority %d: the queue has priorities from 0 to %d", s.Priority,
			l.q.options.Priorities)
	}
	text, err := mq.NewTask(s).Encode()
	if err != nil {
		return nil, err
	}
	if l.IsClosed() || ctx.Err() != nil {
		return nil, errors.New("not sent: the connection to RabbitMQ was lost")
	}
	c, err := l.publish.PublishWithDeferredConfirmWithContext(ctx, l.q.options.name("submit"), "", true, false,
		amqp.Publishing{
			DeliveryMode: amqp.Persistent, Priority: uint8(s.Priority), MessageId: s.Marker,
			Type: mq.TaskFormat, ContentType: "application/json", AppId: "fairlead", Body: text,
		})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", bridge.ErrUnsure, err)
	}
	return c, nil
}

// unroutable finds submissions that came back because their queue does not exist. They come back before they
// are confirmed.
func (l *live) unroutable(all []bridge.Submission, receipts []bridge.Receipt) {
	for {
		select {
		case r, ok := <-l.returned:
			if !ok {
				return
			}
			for i := range all {
				if all[i].Marker == r.MessageId {
					receipts[i] = bridge.Receipt{
						Err: fmt.Errorf("RabbitMQ returned it (%s): the queue was deleted; it is made again", r.ReplyText),
					}
				}
			}
			l.close()
		default:
			return
		}
	}
}
