package web_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// planned finds the plan that a page offers to apply.
var planned = regexp.MustCompile(`name="plan" value="(\w+)"`)

// weight is that of a pool in force.
func (l *lab) weight(pool string) float64 {
	l.t.Helper()
	for _, p := range l.loop.Pools(l.t.Context()) {
		if p.Path == pool {
			return p.Weight
		}
	}
	l.t.Fatalf("there is no pool %s", pool)
	return 0
}

// TestPolicyPage shows the tree, the versions, the record and how the scheduler does.
func TestPolicyPage(t *testing.T) {
	l := newLab(t, cluster)
	_, _, text := l.get("/policy")
	shows(t, text, "fairtree", ">60<", ">40<", "cpu=8", "in force", "Edit and plan", "a second", "s</p>", "half-life")
}

// TestCheckAsYouType: what is wrong comes with its line and a caret.
func TestCheckAsYouType(t *testing.T) {
	l := newLab(t, cluster)
	_, text := l.post("/policy/edit", url.Values{"text": {strings.Replace(cluster, "weight: 60", "weight: -2", 1)}})
	shows(t, text, "This cannot be put into force", "error, line", "weight must be", "-2", "^")
	if planned.MatchString(text) {
		t.Error("a broken text has a plan")
	}
	_, text = l.post("/policy/edit", url.Values{"text": {strings.Replace(cluster, "weight: 60", "wieght: 60", 1)}})
	shows(t, text, "wieght", "did you mean")
	_, text = l.post("/policy/edit", url.Values{"text": {strings.ReplaceAll(strings.Replace(cluster, "weight: 60", "weight: 70", 1), "\n", "\r\n")}})
	shows(t, text, "No errors", "pools.physics.weight", "<del>60</del>", "<ins>70</ins>")
	_, text = l.post("/policy/edit", url.Values{"text": {"a: </textarea><script>alert(1)</script>"}})
	if strings.Contains(text, "<script>alert") {
		t.Error("what was typed became markup")
	}
	if l.weight("physics") != 60 {
		t.Error("to check has changed something")
	}
	if status, _ := l.post("/policy/edit", url.Values{"text": {strings.Repeat("#", 5<<20)}}); status != http.StatusUnprocessableEntity && status != http.StatusRequestEntityTooLarge {
		t.Errorf("five mebibytes: %d", status)
	}
}

// TestPlanApplyRollback: a plan shows before and after, is applied by its name, and undone.
func TestPlanApplyRollback(t *testing.T) {
	l := newLab(t, cluster)
	next := strings.Replace(cluster, "weight: 60", "weight: 10", 1)
	form := url.Values{"text": {next}, "do": {"plan"}, "last": {"0"}}
	_, text := l.post("/policy/edit", form)
	shows(t, text, "<del>60</del>", "60.0%", "20.0%", "No task is stopped", "Next to start")
	m := planned.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("there is no plan:\n%s", text)
	}
	apply := url.Values{"plan": {m[1]}, "reason": {"the vote of May"}}
	for _, h := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "http://evil.example"}} {
		if status, _ := l.post("/policy/apply", apply, h...); status != http.StatusForbidden || l.weight("physics") != 60 {
			t.Errorf("apply with %v: %d", h, status)
		}
	}
	if status, _, _ := l.get("/policy/apply?plan=" + m[1]); status == http.StatusOK || l.weight("physics") != 60 {
		t.Errorf("to apply by asking for an address: %d", status)
	}
	status, text := l.post("/policy/apply", apply)
	if status != http.StatusOK || l.weight("physics") != 10 {
		t.Fatalf("apply: %d, the weight is %v\n%s", status, l.weight("physics"), text)
	}
	if file, err := os.ReadFile(filepath.Join(l.dir, "lab.yaml")); err != nil || string(file) != next {
		t.Errorf("the file is not what was applied: %v", err)
	}
	_, _, text = l.get("/policy")
	shows(t, text, "the vote of May", "policy/rollback?to=1")
	_, _, text = l.get("/policy/rollback?to=1")
	shows(t, text, "Put version 1 into force again?", "<del>10</del>", "<ins>60</ins>")
	if l.weight("physics") != 10 {
		t.Error("to ask has rolled back")
	}
	if status, _ := l.post("/policy/apply", apply); status == http.StatusOK {
		t.Error("a plan was applied twice")
	}
	if status, text := l.post("/policy/rollback", url.Values{"to": {"1"}}); status != http.StatusOK || l.weight("physics") != 60 {
		t.Errorf("roll back: %d, the weight is %v\n%s", status, l.weight("physics"), text)
	}
}
