package daemon_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/daemon"
)

// TestPorts: a port is given once, though whoever has it does not use it yet. Twelve calls that
// do not know of each other would give about nine of these 600 twice.
func TestPorts(t *testing.T) {
	given := map[int]bool{}
	for range 12 {
		ports, err := daemon.Ports(50)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range ports {
			if given[port] {
				t.Errorf("port %d is given twice", port)
			}
			given[port] = true
		}
	}
}
