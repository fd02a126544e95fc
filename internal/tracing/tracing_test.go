package tracing

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// collector receives spans as a real collector does.
type collector struct {
	t     *testing.T
	token string
	spans map[string]*otlp.Span
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var data otlp.TracesData
	if err == nil {
		err = proto.Unmarshal(body, &data)
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	c.token = r.Header.Get("Authorization")
	for _, rs := range data.ResourceSpans {
		for _, s := range rs.ScopeSpans {
			for _, span := range s.Spans {
				c.spans[span.Name] = span
			}
		}
	}
}

func (c *collector) attribute(span, name string) string {
	for _, a := range c.spans[span].GetAttributes() {
		if a.Key == name {
			return a.Value.String()
		}
	}
	return ""
}

// TestSpans checks that the life of a job is one trace, which continues that of its user and includes that of
// its task.
func TestSpans(t *testing.T) {
	c := &collector{t: t, spans: map[string]*otlp.Span{}}
	s := httptest.NewServer(c)
	defer s.Close()
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL, "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20x"}
	tr, err := New(func(name string) string { return env[name] }, "test", slog.New(slog.DiscardHandler))
	if err != nil || tr == nil {
		t.Fatal(tr, err)
	}
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	keep, end := tr.Submit(parent, "ann", 1)
	end(nil)
	job := &queue.Job{ID: 7, User: "ann", Pool: "physics/ann\xff", Submitted: time.Now().Add(-time.Minute), Env: map[string]string{Variable: keep}}
	lease := &queue.Lease{Ref: queue.Ref{JobID: 7, Attempt: 1}, Job: job, Started: time.Now()}
	tr.Began(engine.Begun{Lease: lease, Node: "n1", Choice: func() []why.Level {
		return []why.Level{{Policy: "fair", Children: []why.Child{{Name: "physics", Key: 1.5}, {Name: "biology", Key: 2.5}}}}
	}})
	given := lease.Job.Env[Variable]
	if job.Env[Variable] != keep || given == keep || !Valid(given) {
		t.Errorf("the job keeps %s, of which the task gets %s", job.Env[Variable], given)
	}
	tr.Ended(queue.Result{Ref: lease.Ref, Outcome: queue.Outcome{State: queue.Failed, ExitCode: 3, Cause: "exit status 3"}})
	if err := tr.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"submit", "wait", "lease", "run", "finish"} {
		span := c.spans[name]
		if span == nil {
			t.Fatalf("no span %s in %v", name, c.spans)
		}
		if got := traceOf(span); !strings.Contains(parent, got) || !strings.Contains(given, got) {
			t.Errorf("%s is of the trace %s, not of %s", name, got, parent)
		}
		if span.EndTimeUnixNano < span.StartTimeUnixNano {
			t.Errorf("%s ends before it begins", name)
		}
	}
	for name, above := range map[string]string{"wait": "submit", "lease": "submit", "run": "submit", "finish": "run"} {
		if string(c.spans[name].ParentSpanId) != string(c.spans[above].SpanId) {
			t.Errorf("%s is not below %s", name, above)
		}
	}
	wait := c.spans["wait"]
	if took := time.Duration(wait.EndTimeUnixNano - wait.StartTimeUnixNano); took < time.Minute || took > 2*time.Minute {
		t.Errorf("the wait took %v", took)
	}
	if d := c.attribute("lease", "fairlead.decision"); !strings.Contains(d, "/ by fair: physics (key 1.5) before biology (key 2.5)") {
		t.Errorf("the decision is told as %s", d)
	}
	if c.spans["run"].Status.Code != otlp.Status_STATUS_CODE_ERROR || !strings.Contains(c.attribute("run", "fairlead.exit_code"), "3") || c.token != "Bearer x" {
		t.Errorf("run %v, token %q", c.spans["run"], c.token)
	}
}

func traceOf(s *otlp.Span) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, x := range s.TraceId {
		b.WriteByte(digits[x>>4])
		b.WriteByte(digits[x&15])
	}
	return b.String()
}

// TestOff checks that there is no tracer without a collector, and that an invalid address is refused.
func TestOff(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for _, env := range []map[string]string{{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:4318", "OTEL_SDK_DISABLED": "true"}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:4318", "OTEL_TRACES_EXPORTER": "none"}} {
		if tr, err := New(func(name string) string { return env[name] }, "test", log); tr != nil || err != nil {
			t.Errorf("%v: %v, %v", env, tr, err)
		}
	}
	if _, err := New(func(string) string { return "h:4318" }, "test", log); err == nil || !strings.Contains(err.Error(), "expected http://HOST:4318") {
		t.Errorf("no scheme: %v", err)
	}
	for text, want := range map[string]bool{"": false, "00-0-0-0": false, strings.Repeat("x", 1<<16): false, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": true} {
		if Valid(text) != want {
			t.Errorf("%.60q is valid: %v", text, !want)
		}
	}
}
