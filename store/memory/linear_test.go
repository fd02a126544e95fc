package memory_test

import (
	"testing"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/linear"
	"github.com/fairlead/fairlead/store/memory"
)

func TestLinearizable(t *testing.T) {
	linear.Run(t, func(testing.TB) []queue.Store { return []queue.Store{memory.New("cpu")} }, 8, 4)
}

func TestFlawsAreNoticed(t *testing.T) {
	linear.RunFlawed(t, func(testing.TB) []queue.Store { return []queue.Store{memory.New("cpu")} }, 8)
}
