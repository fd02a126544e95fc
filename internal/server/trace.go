package server

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/tracing"
	"github.com/fairlead/fairlead/why"
)

// traced gives jobs the trace to which they belong, where they have none of their own: that of
// who submits them, and below it the span of the submission, if there is somebody to tell. What
// it returns is to be called at the end.
func (s *Server) traced(parent, user string, jobs []fairlead.Job) (end func(error)) {
	end = func(error) {}
	if !tracing.Valid(parent) {
		parent = ""
	}
	if s.options.Tracer != nil {
		parent, end = s.options.Tracer.Submit(parent, user, len(jobs))
	}
	if parent == "" {
		return end
	}
	for i := range jobs {
		if jobs[i].Env[tracing.Variable] != "" {
			continue
		}
		if jobs[i].Env == nil {
			jobs[i].Env = map[string]string{}
		}
		jobs[i].Env[tracing.Variable] = parent
	}
	return end
}

// both are two observers.
type both struct{ first, second fairlead.Observer }

func (b both) Stepped(took time.Duration) { b.first.Stepped(took); b.second.Stepped(took) }
func (b both) Stored(call string, took time.Duration) {
	b.first.Stored(call, took)
	b.second.Stored(call, took)
}
func (b both) Began(x fairlead.Begun) { b.first.Began(x); b.second.Began(x) }
func (b both) BeganThere(r fairlead.Run, h fairlead.Header, since time.Time) {
	b.first.BeganThere(r, h, since)
	b.second.BeganThere(r, h, since)
}
func (b both) Ended(r fairlead.Result) { b.first.Ended(r); b.second.Ended(r) }
func (b both) Lost(ref fairlead.Ref)   { b.first.Lost(ref); b.second.Lost(ref) }
func (b both) WaitsFor(code why.Code)  { b.first.WaitsFor(code); b.second.WaitsFor(code) }
