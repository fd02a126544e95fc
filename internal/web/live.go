package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/quota"
	"github.com/fairlead/fairlead/internal/wait"
)

// part is a piece of a page that changes, as the page contains it.
type part struct{ name, html string }

// version returns a hash of the parts.
func version(parts []part) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s %d %s", len(p.name), p.name, len(p.html), p.html)
	}
	return fmt.Sprintf("%.8x", h.Sum(nil))
}

// The intervals at which open pages are rendered again.
const (
	// livePace is the minimum time between two renderings of a view after changes.
	livePace = time.Second
	// livePart bounds the fraction of the time that rendering takes. After a rendering that took d, a view
	// rests for livePart times d, times the number of views. So open pages cost at most a few hundredths of a
	// processor, whatever their number and size.
	livePart = 50
	// liveRest is the time after which a page is rendered again without a change, because lags change as time
	// passes.
	liveRest = 10 * time.Second
	// livePoll is the interval of the check for changes, which is one comparison.
	livePoll = 100 * time.Millisecond
	// liveSilence is the time without news after which a sign of life is sent.
	liveSilence = 15 * time.Second
	// maxLive bounds the connections. One user has at most an eighth of them, and another eighth is reserved
	// for administrators.
	maxLive = 2000
)

// hub renders the changes of pages for all open browsers. Without open pages, nothing runs.
type hub struct {
	version func() uint64
	render  func(context.Context, *Page, *Request) ([]part, error)
	log     *slog.Logger

	mu    sync.Mutex
	views map[string]*liveView
	many  int           // open connections
	room  quota.Quota   // for the connections
	fresh chan struct{} // a view was added
	quit  chan struct{} // closed with the last connection
}

// liveView is a page shared by all connections for which it looks the same.
type liveView struct {
	page    *Page
	request *Request
	ctx     context.Context // of the first connection, without its end
	lookers map[chan struct{}]bool
	now     *rendering
	of      uint64    // the version that it shows
	next    time.Time // not rendered before this instant
	rest    time.Time // rendered at this instant even without a change
}

// rendering is a page at an instant. It never changes.
type rendering struct {
	version string
	parts   []part
	events  [][]byte // one per part
	problem string
}

func newHub(version func() uint64, render func(context.Context, *Page, *Request) ([]part, error),
	log *slog.Logger) *hub {
	return &hub{
		version: version, render: render, log: log, views: map[string]*liveView{}, fresh: make(chan struct{}, 1),
		room: quota.Quota{All: maxLive, Reserved: maxLive / 8, User: maxLive / 8},
	}
}

// serve sends the parts of a page that differ from the browser's version, until the browser disconnects.
func (h *hub) serve(w http.ResponseWriter, r *http.Request, p *Page, req *Request, you api.Actor) {
	if err := h.room.Take(you.UID, you.Admin); err != nil {
		api.WriteBusy(w, fmt.Sprintf("%d pages are open, and %v: close some, or open this one without the parameter %s",
			h.room.Held(), err, liveParameter))
		return
	}
	defer h.room.Give(you.UID)
	view, wake := h.join(r.Context(), p, req)
	defer h.leave(req.view(), view, wake)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	out := stream{w: w, to: http.NewResponseController(w)}
	if !out.send([]byte(": hello\n\n")) {
		return
	}
	had := &rendering{version: r.URL.Query().Get(liveParameter)}
	silence := time.NewTicker(liveSilence)
	defer silence.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-silence.C:
			if !out.send([]byte(": still here\n\n")) {
				return
			}
		case <-wake:
			now := h.seen(view)
			if now == nil {
				continue
			}
			if !out.send(now.since(had)) {
				return
			}
			had = now
		}
	}
}

// join adds a connection.
func (h *hub) join(ctx context.Context, p *Page, r *Request) (*liveView, chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.Live = true
	key, wake := r.view(), make(chan struct{}, 1)
	v := h.views[key]
	if v == nil {
		v = &liveView{page: p, request: r, ctx: context.WithoutCancel(ctx), lookers: map[chan struct{}]bool{}}
		h.views[key] = v
		wakeUp(h.fresh)
	}
	v.lookers[wake] = true
	if v.now != nil {
		wakeUp(wake)
	}
	if h.many++; h.many == 1 {
		h.quit = make(chan struct{})
		go h.run(h.quit)
	}
	return v, wake
}

func (h *hub) leave(key string, v *liveView, wake chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if delete(v.lookers, wake); len(v.lookers) == 0 {
		delete(h.views, key)
	}
	if h.many--; h.many == 0 {
		close(h.quit)
	}
}

func (h *hub) seen(v *liveView) *rendering {
	h.mu.Lock()
	defer h.mu.Unlock()
	return v.now
}

// wakeUp sends a signal unless one is pending.
func wakeUp(c chan struct{}) {
	wait.Wake(c)
}

// run renders the views that are due, until no connection is left.
func (h *hub) run(quit chan struct{}) {
	poll := time.NewTicker(livePoll)
	defer poll.Stop()
	for {
		select {
		case <-quit:
			return
		case <-h.fresh:
		case <-poll.C:
		}
		of := h.version()
		views, due := h.due(of)
		for _, v := range due {
			h.refresh(v, of, views)
		}
	}
}

// due returns the new views, the views that may have changed and may be rendered again, and the number of all
// views.
func (h *hub) due(of uint64) (views int, due []*liveView) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for _, v := range h.views {
		if v.now == nil || !now.Before(v.next) && (v.of != of || !now.Before(v.rest)) {
			due = append(due, v)
		}
	}
	return len(h.views), due
}

// refresh renders a view. All views may take the same fraction of the time, so that a slow view does not
// delay the others.
func (h *hub) refresh(v *liveView, of uint64, views int) {
	began := time.Now()
	now := h.renderView(v)
	pause := livePart * time.Duration(views) * time.Since(began)
	h.mu.Lock()
	defer h.mu.Unlock()
	v.of, v.next, v.rest = of, began.Add(max(livePace, pause)), began.Add(max(cmp.Or(v.page.Every, liveRest), pause))
	if v.now == nil || v.now.version != now.version {
		v.now = now
		for wake := range v.lookers {
			wakeUp(wake)
		}
	}
}

// renderView renders a view. An error is shown in place of the page, and rendering is tried again.
func (h *hub) renderView(v *liveView) (out *rendering) {
	defer func() {
		if p := recover(); p != nil {
			h.log.Error("a page could not be updated", "page", v.page.Name, "panic", p)
			out = &rendering{version: "panic", problem: "this page cannot be shown: see the server's log"}
		}
	}()
	ctx, cancel := context.WithTimeout(v.ctx, 10*time.Second)
	defer cancel()
	parts, err := h.render(ctx, v.page, v.request)
	if err != nil {
		return &rendering{version: "error " + err.Error(), problem: err.Error()}
	}
	out = &rendering{version: version(parts), parts: parts}
	for _, p := range parts {
		out.events = append(out.events, event("part", map[string]string{"id": p.name, "html": p.html}))
	}
	return out
}

// since returns the events that describe the changes.
func (now *rendering) since(had *rendering) []byte {
	if now.version == had.version {
		return nil
	}
	if now.problem != "" {
		return event("problem", map[string]string{"text": now.problem})
	}
	var b bytes.Buffer
	for i, p := range now.parts {
		if i >= len(had.parts) || had.parts[i] != p {
			b.Write(now.events[i])
		}
	}
	b.Write(event("version", map[string]string{"version": now.version}))
	return b.Bytes()
}

// event returns a server-sent event. JSON has no line breaks.
func event(name string, data any) []byte {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // cannot happen: it is a map of strings
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text)
}

// stream is an answer that stays open.
type stream struct {
	w  http.ResponseWriter
	to *http.ResponseController
}

// send reports whether the browser is still connected. After ten seconds without reading, a browser is
// disconnected.
func (s *stream) send(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	s.to.SetWriteDeadline(time.Now().Add(10 * time.Second))
	if _, err := s.w.Write(text); err != nil {
		return false
	}
	return s.to.Flush() == nil
}
