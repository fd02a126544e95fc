package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

// TestActSaysWhatCameOfIt: what has ended is not held, and what was cancelled can be run again, in the
// words of the command line.
func TestActSaysWhatCameOfIt(t *testing.T) {
	l := newLab(t, cluster)
	id := fmt.Sprint(l.submit("ann", api.Spec{Pool: "physics/curie"}))
	_, _, text := l.get("/act?verb=cancel&job=" + id)
	shows(t, text, "To undo it, requeue")
	status, text := l.post("/act", url.Values{"verb": {"cancel"}, "job": {id}})
	shows(t, text, "Cancel: done", "fairlead requeue "+id, "Undo: requeue")
	if status != http.StatusOK {
		t.Errorf("to cancel: %d", status)
	}
	for _, verb := range []string{"hold", "cancel"} {
		status, text := l.post("/act", url.Values{"verb": {verb}, "job": {id}})
		shows(t, text, "nothing was done")
		if status != http.StatusConflict || strings.Contains(text, "Undo") {
			t.Errorf("%s what has ended: %d\n%s", verb, status, text)
		}
	}
}

// TestUnboostGoesByItsNumber: whatever pool an address names, the question is about the pool whose
// boost ends.
func TestUnboostGoesByItsNumber(t *testing.T) {
	l := newLab(t, cluster)
	_, text := l.post("/act", url.Values{"verb": {"boost"}, "pool": {"physics"}, "factor": {"2"}, "for": {"6h"}, "reason": {"the thesis"}})
	shows(t, text, "Boost: done")
	_, _, text = l.get("/act?verb=unboost&id=1&pool=biology/env")
	shows(t, text, "End the boost physics?", "×2", "the thesis", "Those beside it have more again", ">biology<")
	if strings.Contains(text, "biology/env") {
		t.Errorf("the question is about the pool of the address:\n%s", text)
	}
	for _, id := range []string{"2", "x", "-1", ""} {
		if status, _ := l.post("/act", url.Values{"verb": {"unboost"}, "id": {id}, "pool": {"physics"}}); status != http.StatusNotFound && status != http.StatusUnprocessableEntity {
			t.Errorf("boost %q: %d", id, status)
		}
	}
	if l.weight("physics") != 120 {
		t.Errorf("the weight is %v", l.weight("physics"))
	}
	_, text = l.post("/act", url.Values{"verb": {"unboost"}, "id": {"1"}, "pool": {"biology"}})
	shows(t, text, "End the boost: done", "physics: weight 120 → 60")
}
