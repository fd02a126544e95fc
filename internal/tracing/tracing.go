// Package tracing reports the lives of jobs to an OpenTelemetry collector: spans of submission, wait, lease,
// run and finish, with the numbers that decided. It does nothing, and costs nothing, unless the environment
// names a collector.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// Variable names the variable in which a task finds its trace, and in which a job keeps it.
const Variable = "TRACEPARENT"

// Tracer observes a loop. If the server ends, its open spans are lost; a run that a server adopts after a
// restart has no span.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer

	mu   sync.Mutex
	runs map[queue.Ref]trace.Span
}

var _ engine.Observer = (*Tracer)(nil)

// New returns a tracer for the collector that the environment names, or nil if it names none.
func New(getenv func(string) string, version string, log *slog.Logger) (*Tracer, error) {
	e, err := newExporter(getenv)
	if e == nil || err != nil {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("tracing", "error", err) }))
	name := getenv("OTEL_SERVICE_NAME")
	if name == "" {
		name = "fairlead"
	}
	about := resource.NewSchemaless(attribute.String("service.name", name), attribute.String("service.version", version))
	p := sdk.NewTracerProvider(sdk.WithBatcher(e), sdk.WithResource(about))
	return &Tracer{provider: p, tracer: p.Tracer("github.com/fairlead/fairlead"), runs: map[queue.Ref]trace.Span{}}, nil
}

// Close sends the remaining spans.
func (t *Tracer) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

var w3c propagation.TraceContext

// Valid reports whether a text is a trace in the W3C format.
func Valid(parent string) bool {
	return trace.SpanContextFromContext(within(parent)).IsValid()
}

// within returns a context with the span that a text names.
func within(parent string) context.Context {
	return w3c.Extract(context.Background(), propagation.MapCarrier{"traceparent": parent})
}

func parentOf(s trace.Span) string {
	c := propagation.MapCarrier{}
	w3c.Inject(trace.ContextWithSpan(context.Background(), s), c)
	return c["traceparent"]
}

// Submit begins the span of a submission below a parent, which may be empty. It returns the text that the
// jobs have to keep, and a function that ends the span.
func (t *Tracer) Submit(parent, user string, jobs int) (keep string, end func(error)) {
	_, s := t.tracer.Start(within(parent), "submit", trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("fairlead.user", user), attribute.Int("fairlead.jobs", jobs)))
	return parentOf(s), func(err error) {
		if err != nil {
			s.SetStatus(codes.Error, err.Error())
		}
		s.End()
	}
}

// Began implements engine.Observer: the wait is over, and the run begins. The task finds the span of its run
// in its environment.
func (t *Tracer) Began(b engine.Begun) {
	l := b.Lease
	ctx := within(l.Job.Env[Variable])
	about := []attribute.KeyValue{
		attribute.Int64("fairlead.job", l.JobID), attribute.Int("fairlead.task", l.Number), attribute.Int("fairlead.attempt", l.Attempt),
		attribute.String("fairlead.user", l.Job.User), attribute.String("fairlead.pool", l.Job.Pool), attribute.String("fairlead.kind", l.Job.Kind), attribute.String("fairlead.node", b.Node),
	}
	since := l.Job.Submitted
	if l.Job.Begin.After(since) {
		since = l.Job.Begin
	}
	if l.Attempt <= 1 && since.Before(l.Started) {
		t.past(ctx, "wait", since, l.Started, about)
	}
	t.past(ctx, "lease", l.Started, units.Later(time.Now(), l.Started), append(about, decision(b.Choice())...))
	_, run := t.tracer.Start(ctx, "run", trace.WithTimestamp(l.Started), trace.WithAttributes(about...))
	t.mu.Lock()
	t.runs[l.Ref] = run
	t.mu.Unlock()
	j := *l.Job // others may share the job
	j.Env = maps.Clone(j.Env)
	if j.Env == nil {
		j.Env = map[string]string{}
	}
	j.Env[Variable] = parentOf(run)
	l.Job = &j
}

// BeganThere implements engine.Observer.
func (t *Tracer) BeganThere(r queue.Run, _ queue.Header, _ time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if run := t.runs[r.Ref]; run != nil {
		run.AddEvent("began", trace.WithTimestamp(r.Started))
	}
}

// past records a span that is over.
func (t *Tracer) past(ctx context.Context, name string, from, to time.Time, about []attribute.KeyValue) {
	_, s := t.tracer.Start(ctx, name, trace.WithTimestamp(from), trace.WithAttributes(about...))
	s.End(trace.WithTimestamp(to))
}

// decision returns the numbers that chose a task, level by level.
func decision(levels []why.Level) []attribute.KeyValue {
	var lines []string
	for _, l := range levels {
		pool := l.Pool
		if pool == "" {
			pool = "/"
		}
		line := fmt.Sprintf("%s by %s:", pool, l.Policy)
		for i, c := range l.Children {
			if i > 0 {
				line += " before"
			}
			line += fmt.Sprintf(" %s (key %v)", c.Name, c.Key)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return nil
	}
	return []attribute.KeyValue{attribute.StringSlice("fairlead.decision", lines)}
}

// Ended implements engine.Observer.
func (t *Tracer) Ended(r queue.Result) {
	run := t.take(r.Ref)
	if run == nil {
		return
	}
	o := r.Outcome
	run.SetAttributes(attribute.String("fairlead.state", string(o.State)), attribute.Int("fairlead.exit_code", o.ExitCode),
		attribute.Float64("fairlead.cpu_seconds", o.CPU.Seconds()), attribute.Int64("fairlead.max_rss_bytes", o.MaxRSS))
	if o.State == queue.Failed {
		run.SetStatus(codes.Error, strings.TrimSpace(o.Signal+" "+o.Cause))
	}
	run.End()
	_, s := t.tracer.Start(trace.ContextWithSpan(context.Background(), run), "finish", trace.WithAttributes(attribute.Int64("fairlead.job", r.JobID)))
	s.End()
}

// Lost implements engine.Observer.
func (t *Tracer) Lost(ref queue.Ref) {
	if run := t.take(ref); run != nil {
		run.SetStatus(codes.Error, "its worker was lost")
		run.End()
	}
}

func (t *Tracer) take(ref queue.Ref) trace.Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.runs[ref]
	delete(t.runs, ref)
	return s
}

// Stepped implements engine.Observer.
func (t *Tracer) Stepped(time.Duration) {}

// Stored implements engine.Observer.
func (t *Tracer) Stored(string, time.Duration) {}

// WaitsFor implements engine.Observer.
func (t *Tracer) WaitsFor(why.Code) {}
