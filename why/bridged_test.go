package why

import (
	"testing"
	"time"
)

// TestBridgedText: the text states the priority only once, and how old the answer is.
func TestBridgedText(t *testing.T) {
	at := time.Unix(1000, 0)
	for says, want := range map[string]string{
		"ready, priority 300":   "  BRIDGE  it waits in beanstalkd 7: ready, priority 300 (as of 5s ago)\n",
		"ready, priority 1300":  "  BRIDGE  it waits in beanstalkd 7: ready, priority 1300 (priority 300, as of 5s ago)\n",
		"waiting, priority low": "  BRIDGE  it waits in beanstalkd 7: waiting, priority low (priority 300, as of 5s ago)\n",
		"":                      "  BRIDGE  it waits in beanstalkd 7 (priority 300, as of 5s ago)\n",
	} {
		b := Bridged{System: "beanstalkd", ID: "7", Phase: BridgedPending, Priority: 300, Says: says,
			At: at.Add(-5 * time.Second)}
		if got := bridgedText([]Bridged{b}, at); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
