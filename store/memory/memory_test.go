package memory_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(testing.TB) fairlead.Store { return memory.New("cpu") })
}
