package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

// TestRefusedHold: the form of a hold that is refused is shown again, with the mistake and the reason as it was typed.
func TestRefusedHold(t *testing.T) {
	l := newLab(t, cluster)
	l.submit("ann", api.Spec{})
	long := strings.Repeat("è", 200) // as long as the field allows, and too many bytes
	status, text := l.post("/act", url.Values{"verb": {"hold"}, "job": {"1"}, "reason": {long}})
	if status != http.StatusUnprocessableEntity {
		t.Errorf("status %d", status)
	}
	shows(t, text, `role="alert">reason: is longer than 256 bytes`, `name="reason" value="`+long+`"`, `name="job" value="1"`)
	if r, err := l.client.Jobs.Get(t.Context(), 1); err != nil || r.Job.Held {
		t.Errorf("the job is held: %v", err)
	}
	_, text = l.post("/act", url.Values{"verb": {"hold"}, "job": {"1"}, "reason": {"the scanner is broken"}})
	shows(t, text, "Hold: done")
}

// TestRefusedWeight: a text that is no weight stays in its field. Under fifo the page says that weights do not decide.
func TestRefusedWeight(t *testing.T) {
	l := newLab(t, "policy: fifo\npools: {a: {weight: 2, policy: fair, pools: {x: {}, y: {}}}, b: {}}")
	_, _, text := l.get("/policy/weights?w.a=two&w.b=3")
	shows(t, text, "the weight of a has to be a number that is not negative, and &#34;two&#34; is not",
		`name="w.a" min="0" step="any" value="two"`, `name="w.b" min="0" step="any" value="3"`, "The policy here is fifo")
	_, _, text = l.get("/policy/weights?pool=a")
	shows(t, text, `name="w.x" min="0" step="any" value="1"`)
	if strings.Contains(text, "fifo:") {
		t.Errorf("the pool a is not under fifo:\n%s", text)
	}
}
