package allocation_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/share"
)

func TestPoolFor(t *testing.T) {
	s := allocation.Default()
	if path, err := s.PoolFor(share.Origin{User: "u12"}); path != "u12" || err != nil {
		t.Errorf("%q, %v", path, err)
	}
	if got := s.Sched.Priorities[s.NormalPriority()].Name; got != "normal" {
		t.Errorf("priority %q", got)
	}
	s.Closed, s.Sched.Root.Pools = true, []share.Pool{{Name: "physics", Weight: 1}}
	if _, err := s.PoolFor(share.Origin{User: "u12"}); err == nil ||
		!strings.Contains(err.Error(), `which does not exist; name one of these pools: physics`) {
		t.Error(err)
	}
	rules, err := share.NewPlacementRules([]share.Rule{{Match: map[string]string{"kind": "e5"}, Pool: "physics"}})
	if err != nil {
		t.Fatal(err)
	}
	s.PlacementRules = rules
	if path, err := s.PoolFor(share.Origin{User: "u12", Kind: "e5"}); path != "physics" || err != nil {
		t.Errorf("%q, %v", path, err)
	}
}
