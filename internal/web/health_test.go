package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

// TestHealthIsOnEveryPage: every page begins with the lost node, the waiting jobs that it delays, and the next step.
// The message disappears when the node has come back.
func TestHealthIsOnEveryPage(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	id := l.submit("curie", api.Spec{Request: map[string]int64{"cpu": 1}})
	for range 2 {
		l.submit("curie", api.Spec{Request: map[string]int64{"cpu": 90}})
	}
	const lost, next = "n9", "journalctl -u fairlead-agent"
	troubled := func(path string) bool {
		_, _, text := l.get(path)
		_, strip, found := strings.Cut(text, `<div id="troubles"`)
		if strip, _, _ = strings.Cut(strip, "</div>"); !found {
			t.Fatalf("%s has no strip", path)
		}
		says := "<b>lost nodes</b> " + lost + "; this delays 2 waiting jobs"
		return strings.Contains(strip, says) && strings.Contains(strip, next)
	}
	pages := []string{"/", "/queue", "/machines", "/policy", "/policy/weights", fmt.Sprint("/jobs/", id), "/jobs/999999"}
	for _, path := range pages {
		if troubled(path) {
			t.Errorf("%s is troubled although all is well", path)
		}
	}
	l.lose(lost)
	for _, path := range pages {
		l.wait(path+" shows the lost node", func() bool { return troubled(path) })
	}
	l.node(lost, map[string]int64{"cpu": 1})
	for _, path := range pages {
		l.wait(path+" shows the lost node no longer", func() bool { return !troubled(path) })
	}
}
