package memory_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/linear"
	"github.com/fairlead/fairlead/store/memory"
)

func TestLinearizable(t *testing.T) {
	linear.Run(t, func(testing.TB) []fairlead.Store { return []fairlead.Store{memory.New("cpu")} }, 8, 4)
}
