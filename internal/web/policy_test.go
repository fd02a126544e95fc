package web_test

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
)

// planned matches the plan that a page offers to apply.
var planned = regexp.MustCompile(`name="plan" value="(\w+)"`)

// weight returns the current weight of a pool.
func (l *lab) weight(pool string) float64 {
	l.t.Helper()
	for _, p := range views.Pools(l.t.Context(), l.loop) {
		if p.Path == pool {
			return p.Weight
		}
	}
	l.t.Fatalf("there is no pool %s", pool)
	return 0
}

// TestPolicyPage checks that the page shows the tree, the versions, the record and the health of the
// scheduler.
func TestPolicyPage(t *testing.T) {
	l := newLab(t, cluster)
	_, _, text := l.get("/policy")
	shows(t, text, "fairtree", ">60<", ">40<", "cpu=8", "current", "Edit and plan", "a second", "s</p>", "half-life")
}

// TestCheckAsYouType checks that errors come with their line and a caret.
func TestCheckAsYouType(t *testing.T) {
	l := newLab(t, cluster)
	_, text := l.post("/policy/edit", url.Values{"text": {strings.Replace(cluster, "weight: 60", "weight: -2", 1)}})
	shows(t, text, "This cannot be applied", "error, line", "weight must be", "-2", "^")
	if planned.MatchString(text) {
		t.Error("a broken text has a plan")
	}
	_, text = l.post("/policy/edit", url.Values{"text": {strings.Replace(cluster, "weight: 60", "wieght: 60", 1)}})
	shows(t, text, "wieght", "did you mean")
	_, text = l.post("/policy/edit", url.Values{"text": {strings.ReplaceAll(strings.Replace(cluster, "weight: 60",
		"weight: 70", 1), "\n", "\r\n")}})
	shows(t, text, "No errors", "pools.physics.weight", "<del>60</del>", "<ins>70</ins>")
	_, text = l.post("/policy/edit", url.Values{"text": {"a: </textarea><script>alert(1)</script>"}})
	if strings.Contains(text, "<script>alert") {
		t.Error("what was typed became markup")
	}
	if l.weight("physics") != 60 {
		t.Error("to check has changed something")
	}
	if status, _ := l.post("/policy/edit", url.Values{"text": {strings.Repeat("#",
		5<<20)}}); status != http.StatusUnprocessableEntity && status != http.StatusRequestEntityTooLarge {
		t.Errorf("five mebibytes: %d", status)
	}
}

// TestPlanApplyRollback checks that a plan shows the values before and after, is applied by its name, and can
// be undone.
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
	shows(t, text, "Roll back to version 1?", "<del>10</del>", "<ins>60</ins>")
	if l.weight("physics") != 10 {
		t.Error("to ask has rolled back")
	}
	if status, _ := l.post("/policy/apply", apply); status == http.StatusOK {
		t.Error("a plan was applied twice")
	}
	if status, text := l.post("/policy/rollback",
		url.Values{"to": {"1"}, "plan": {planned.FindStringSubmatch(text)[1]}}); status != http.StatusOK ||
		l.weight("physics") != 60 {
		t.Errorf("roll back: %d, the weight is %v\n%s", status, l.weight("physics"), text)
	}
}

// TestSettingOverFile checks that the editor, the plan and the page after applying all report a setting that
// overrides a change.
func TestSettingOverFile(t *testing.T) {
	l := newLab(t, cluster)
	if _, err := l.client.Config.Set(t.Context(),
		api.SettingsRequest{Settings: []api.SettingValue{{Path: "pools.physics.weight", Value: "70"}}}); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"text": {strings.Replace(cluster, "weight: 60", "weight: 65", 1)}, "last": {"0"}}
	words := []string{"Runtime settings override these values", "<del>60</del>", "<ins>65</ins>"}
	_, text := l.post("/policy/edit", form)
	shows(t, text, append(words, "The current configuration would not change")...)
	form.Set("do", "plan")
	_, text = l.post("/policy/edit", form)
	shows(t, text, append(words, "The current configuration does not change")...)
	m := planned.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("there is no plan:\n%s", text)
	}
	_, text = l.post("/policy/apply", url.Values{"plan": {m[1]}})
	shows(t, text, append(words, "The plan is the file now", "does not change the current configuration")...)
	if l.weight("physics") != 70 {
		t.Errorf("the weight is %v", l.weight("physics"))
	}
	_, _, text = l.get("/policy/rollback?to=1")
	shows(t, text, "Runtime settings override these values", "<ins>60</ins>")
}

// TestRollbackOfWhatWasSeen checks that a rollback does not undo a change that another user applied after the page was
// opened.
func TestRollbackOfWhatWasSeen(t *testing.T) {
	l := newLab(t, cluster)
	apply := func(weight string) {
		t.Helper()
		_, text := l.post("/policy/edit", url.Values{"text": {strings.Replace(cluster, "weight: 60", "weight: "+weight, 1)},
			"do": {"plan"}, "last": {"0"}})
		m := planned.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("there is no plan:\n%s", text)
		}
		if status, text := l.post("/policy/apply", url.Values{"plan": {m[1]}}); status != http.StatusOK {
			t.Fatalf("apply: %d\n%s", status, text)
		}
	}
	apply("10")
	_, _, text := l.get("/policy/rollback?to=1")
	seen := url.Values{"to": {"1"}, "plan": {planned.FindStringSubmatch(text)[1]}}
	apply("20")
	status, text := l.post("/policy/rollback", seen)
	shows(t, text, "is out of date", "open the page of version 1 again")
	if status != http.StatusConflict || l.weight("physics") != 20 {
		t.Errorf("roll back what was seen before: %d, the weight is %v", status, l.weight("physics"))
	}
	if status, _ := l.post("/policy/rollback", url.Values{"to": {"1"}}); status != http.StatusUnprocessableEntity ||
		l.weight("physics") != 20 {
		t.Errorf("roll back without having looked: %d", status)
	}
	_, _, text = l.get("/policy/rollback?to=2")
	seen.Set("plan", planned.FindStringSubmatch(text)[1])
	if status, _ := l.post("/policy/rollback", seen); status != http.StatusUnprocessableEntity ||
		l.weight("physics") != 20 {
		t.Errorf("roll back to another version than the one that was looked at: %d", status)
	}
	seen.Set("to", "2")
	if status, text := l.post("/policy/rollback", seen); status != http.StatusOK || l.weight("physics") != 10 {
		t.Errorf("roll back: %d, the weight is %v\n%s", status, l.weight("physics"), text)
	}
}

// TestHintsAndMachines checks that the editor shows the hints of config check, and compares the minima with
// the machines.
func TestHintsAndMachines(t *testing.T) {
	l := newLab(t, cluster)
	large := strings.Replace(cluster, "min: {cpu: 8}", "min: {cpu: 200}", 1)
	form := url.Values{"text": {large}, "last": {"0"}}
	if _, text := l.post("/policy/edit", form); strings.Contains(text, "is guaranteed") {
		t.Error("minima are compared with the nodes though there is none")
	}
	l.node("n", map[string]int64{"cpu": 16, "mem": 1 << 30})
	const want = "biology/env is guaranteed 200 cpu, but all nodes together have only 16"
	_, text := l.post("/policy/edit", form)
	shows(t, text, want)
	form.Set("do", "plan")
	_, text = l.post("/policy/edit", form)
	shows(t, text, want)
	c, err := config.Parse("lab.yaml", []byte(cluster))
	if err != nil || len(c.Hints) == 0 {
		t.Fatalf("the text has no hints: %v", err)
	}
	_, text = l.post("/policy/edit", url.Values{"text": {cluster}})
	for _, h := range c.Hints {
		shows(t, text, "No errors", "hint", html.EscapeString(h.Msg))
	}
}
