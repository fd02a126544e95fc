package server

import (
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// both combines two observers.
type both struct{ first, second engine.Observer }

func (b both) Stepped(took time.Duration) { b.first.Stepped(took); b.second.Stepped(took) }
func (b both) Stored(call string, took time.Duration) {
	b.first.Stored(call, took)
	b.second.Stored(call, took)
}
func (b both) Began(x engine.Begun) { b.first.Began(x); b.second.Began(x) }
func (b both) BeganThere(r queue.Run, h queue.Header, since time.Time) {
	b.first.BeganThere(r, h, since)
	b.second.BeganThere(r, h, since)
}
func (b both) Ended(r queue.Result)   { b.first.Ended(r); b.second.Ended(r) }
func (b both) Lost(ref queue.Ref)     { b.first.Lost(ref); b.second.Lost(ref) }
func (b both) WaitsFor(code why.Code) { b.first.WaitsFor(code); b.second.WaitsFor(code) }
