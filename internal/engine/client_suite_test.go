package engine_test

import (
	"testing"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/clienttest"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

var _ queue.Client = (*engine.Client)(nil)

func TestClient(t *testing.T) {
	clienttest.Run(t, "ann", func(*testing.T) queue.Client {
		return engine.NewClient(memory.New("cpu"), allocation.Default())
	})
}
