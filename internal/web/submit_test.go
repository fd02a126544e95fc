package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

var keyField = regexp.MustCompile(`name="key" value="([^"]+)"`)

// TestSubmitPage submits a command and a script: a check submits nothing, a form that is sent twice submits one job,
// and mistakes leave the texts in the form.
func TestSubmitPage(t *testing.T) {
	l := newLab(t, cluster)
	l.node("n1", map[string]int64{"cpu": 4})
	_, _, text := l.get("/queue")
	shows(t, text, `href="./submit"`)
	_, _, text = l.get("/submit?pool=physics/curie")
	shows(t, text, "Submit a job", `value="physics/curie"`, "<option>physics/curie</option>")
	form := url.Values{"text": {"exit 3"}, "name": {"first"}, "pool": {"physics/curie"}, "cpus": {"2"}, "time": {"5"},
		"key": {keyField.FindStringSubmatch(text)[1]}, "do": {"check"}}
	_, text = l.post("/submit", form)
	shows(t, text, "Not submitted yet", "would be queued in", "physics/curie", "time limit 5m", "It would start now",
		"exit 3</textarea>")
	if all, err := l.client.Jobs.List(t.Context(), url.Values{}); err != nil || len(all.Jobs) != 0 {
		t.Fatalf("the check left %v, %v", all, err)
	}
	form.Set("do", "submit")
	_, text = l.post("/submit", form)
	shows(t, text, `<a href="./jobs/1">1</a> is submitted`, "It is queued in", "Submit a similar job")
	_, text = l.post("/submit", form)
	shows(t, text, `<a href="./jobs/1">1</a> was submitted before with this form`)
	changed := url.Values{"text": {"true"}, "key": form["key"], "do": {"submit"}} // as after Back in the browser
	_, text = l.post("/submit", changed)
	shows(t, text, "this form was already submitted with other contents; submit it again to make another job")
	if changed.Set("key", keyField.FindStringSubmatch(text)[1]); changed.Get("key") == form.Get("key") {
		t.Error("the form keeps the key of the job")
	}
	_, text = l.post("/submit", changed)
	shows(t, text, `<a href="./jobs/2">2</a> is submitted`)
	l.until(1, "failed")
	j, err := l.client.Jobs.Get(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if j.Job.Name != "first" || j.Job.LimitSeconds != 300 || j.Job.Request["cpu"] != 2 || j.Tasks[0].ExitCode != 3 {
		t.Errorf("the job is %+v", j)
	}
	for _, wrong := range []struct{ field, text, says string }{
		{"time", "soon", "Time limit: "}, {"cpus", "two", "Processors per task: "}, {"mem", "much", "Memory per task: "},
		{"after", "x1", "Start after these jobs: "}, {"after", "77", "77"}, {"pool", "chemistry", "chemistry"},
		{"chdir", "run", "Working directory: "}, {"text", " ", "Command or script: "}, {"array", "5-1", "array: "},
		{"text", "#!/bin/sh\n#FL --nodes 2 --cpus\n", "line 2"},
	} {
		bad := url.Values{"text": {"true"}, "name": {"typed"}, "do": {"submit"}}
		bad.Set(wrong.field, wrong.text)
		status, text := l.post("/submit", bad)
		shows(t, text, `class="problem" role="alert"`, wrong.says, `value="typed"`)
		if status != http.StatusOK || strings.Contains(text, "is submitted") {
			t.Errorf("%s %q: status %d\n%s", wrong.field, wrong.text, status, text)
		}
	}
}

// TestSubmitPageSaysNoFlags: an error does not advise a flag, because the form has none. A long command without a blank
// does not lead to a name that is too long.
func TestSubmitPageSaysNoFlags(t *testing.T) {
	l := newLab(t, cluster)
	l.node("n1", map[string]int64{"cpu": 4})
	_, text := l.post("/submit", url.Values{"text": {"true"}, "cpus": {"64"}, "do": {"submit"}})
	if shows(t, text, "no node can ever run this"); strings.Contains(text, "--allow") {
		t.Errorf("the page advises a flag:\n%s", text)
	}
	_, text = l.post("/submit", url.Values{"text": {":" + strings.Repeat("ä", 200)}, "time": {"none"}, "do": {"submit"}})
	shows(t, text, "is submitted", "no time limit")
}

// TestSubmitCopy submits a copy of a job, with everything that its owner gave it, and a copy of a script.
func TestSubmitCopy(t *testing.T) {
	l := newLab(t, cluster)
	me, err := l.client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id := l.submit(me.You.User, api.Spec{Name: "a", Pool: "physics/curie",
		Argv: []string{"echo", "it's", "$HOME"}, Dir: "/tmp",
		Env: map[string]string{"PATH": "/usr/bin", "X": "a,b=c"}, Array: "1-3", LimitSeconds: 90, Retries: 2,
		BackoffSeconds: 20, Nice: 7, Requestor: "course",
		Request: map[string]int64{"cpu": 2}, Held: true})
	_, _, text := l.get(fmt.Sprintf("/jobs/%d", id))
	shows(t, text, fmt.Sprintf("submit?like=%d", id), "Submit a copy")
	_, _, text = l.get(fmt.Sprintf("/submit?like=%d", id))
	shows(t, text, "Submit a copy of job", "echo &#39;it&#39;\\&#39;&#39;s&#39; &#39;$HOME&#39;</textarea>", `value="1-3"`,
		`value="1m30s"`, "<details open>")
	fields := url.Values{"like": {fmt.Sprint(id)}, "do": {"submit"}, "text": {`echo 'it'\''s' '$HOME'`}}
	for _, m := range regexp.MustCompile(`<input name="([a-z-]+)" value="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		fields.Set(m[1], m[2])
	}
	_, text = l.post("/submit", fields)
	shows(t, text, "is submitted", "3 tasks")
	first, err := l.client.Jobs.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	second, err := l.client.Jobs.Get(t.Context(), id+1)
	if err != nil {
		t.Fatal(err)
	}
	want, got := first.Job.Spec, second.Job.Spec
	want.Argv = []string{"/bin/sh", "-c", `echo 'it'\''s' '$HOME'`}
	want.Held, got.Key = false, ""
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the copy is\n%+v\nwant\n%+v", got, want)
	}
	script := "#!/bin/sh\n#FL -J sweep -c 3\n#SBATCH --mail-user=ann\ntrue\n"
	_, text = l.post("/submit", url.Values{"text": {strings.ReplaceAll(script, "\n", "\r\n")}, "do": {"submit"}})
	shows(t, text, "is submitted", "ignored", "mail-user")
	third, err := l.client.Jobs.Get(t.Context(), id+2)
	if err != nil {
		t.Fatal(err)
	}
	if s := third.Job.Spec; string(s.Payload) != script || !s.Script || s.Name != "sweep" || s.Request["cpu"] != 3 {
		t.Errorf("the script became %+v", s)
	}
	_, _, text = l.get(fmt.Sprintf("/submit?like=%d", id+2))
	shows(t, text, "#FL -J sweep -c 3")
}
