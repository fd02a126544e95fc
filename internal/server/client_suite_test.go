package server_test

import (
	"os/user"
	"testing"

	"github.com/fairlead/fairlead/internal/clienttest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/remote"
)

var _ queue.Client = (*remote.Client)(nil)

// TestRemoteClient: the client of a server keeps the same promises as a client of a store in the same process.
func TestRemoteClient(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	clienttest.Run(t, me.Username, func(t *testing.T) queue.Client {
		c, err := remote.Dial(newRig(t).socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	})
}
