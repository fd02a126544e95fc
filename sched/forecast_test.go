package sched_test

import (
	"slices"

	"pgregory.net/rapid"
)

// forecast asks what another configuration would do: a copy takes the configuration and steps, and the original
// continues unchanged.
func (m *model) forecast(t *rapid.T) {
	before := order(m.Scheduler)
	cfg := m.cfg
	cfg.Root = drawTree(t)
	drawQuotas(t, &cfg)
	then := m.Fork()
	if err := then.Configure(cfg, m.now); err != nil {
		t.Fatal(err)
	}
	then.Step(m.now, 0, &m.d)
	if err := then.Check(); err != nil {
		t.Fatalf("the copy under another configuration: %v", err)
	}
	if after := order(m.Scheduler); !slices.Equal(before, after) {
		t.Fatalf("a copy under another configuration changed the order of the original from %v to %v", before, after)
	}
}
