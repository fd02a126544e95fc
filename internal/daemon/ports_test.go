package daemon_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/daemon"
)

// TestPorts checks that a port is given once, even if its owner does not use it yet. Twelve independent calls
// would give about nine of these 600 ports twice.
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
