//go:build campaign

package rabbitmq_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/worktest"
	"github.com/fairlead/fairlead/internal/brokertest"
)

// TestCampaignNewQueueForgotten checks a RabbitMQ that is killed soon after it made a queue. RabbitMQ writes
// messages before it confirms them, but writes the definition of a queue up to two seconds later. If it is
// killed in that time, the queue is gone with all confirmed messages. The bridge then makes the queue again,
// reports that the jobs are absent, and submits them again.
func TestCampaignNewQueueForgotten(t *testing.T) {
	server := brokertest.NewRabbitMQ(t)
	forgotten := 0
	for round := range 4 {
		queue := fmt.Sprint("new-", round)
		q := adapter(server.URL, queue)
		for i, r := range worktest.Submit(t, q, 1, 2, 3) {
			if r.Err != nil {
				t.Fatalf("receipt %d: %v", i, r.Err)
			}
		}
		forgets := round >= 2
		if forgets { // RabbitMQ may write the queue in time, so the test deletes it
			for _, part := range []string{"", ".receipts", ".reports"} {
				server.Control(t, "delete_queue", queue+part)
			}
			server.Sync(t)
		}
		server.Kill()
		server.Start(t)
		if round%2 == 1 { // the bridge was killed as well
			q.Close()
			q = adapter(server.URL, queue)
		}
		seen := looked(t, q, 1, 2, 3)
		there := contents(t, server, queue)
		for i, s := range seen {
			if want := slices.Contains(there, worktest.Entry(i+1).Marker); want != (s.Phase == bridge.Pending) ||
				!want != (s.Phase == bridge.Absent) {
				t.Errorf("round %d: %d is in the queue: %v, and the bridge says %+v", round, i+1, want, s)
			}
			if s.Phase == bridge.Absent {
				forgotten++
				if r := worktest.Submit(t, q, i+1)[0]; r.Err != nil {
					t.Errorf("again: %v", r.Err)
				}
			}
		}
		if forgets && len(there) > 0 {
			t.Errorf("round %d: %q are there, and the queue was forgotten", round, there)
		}
		if got := len(contents(t, server, queue)); got != 3 {
			t.Errorf("round %d: %d are in the queue at last, want 3", round, got)
		}
		q.Close()
	}
	t.Logf("figure: %d of 12 were forgotten with their queue", forgotten)
}
