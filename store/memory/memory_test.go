package memory_test

import (
	"testing"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(testing.TB) queue.Store { return memory.New("cpu") })
}
