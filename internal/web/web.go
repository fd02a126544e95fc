package web

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

// Source is where pages get what they show, and what acts for them: the server, by the functions
// that answer its HTTP interface. So what a page shows is what --json prints, and nobody may do
// more here than there. The context is that of a request, and says who asks.
type Source interface {
	// You is who asks.
	You(ctx context.Context) api.Actor
	// Version changes with everything that a page may show, but for what time alone changes.
	Version() uint64
	// Waiting is how many tasks wait.
	Waiting() int64

	nowSource
	queueSource
	poolSource
	jobSource
	logSource
	actSource
	machinesSource
	drainSource
	reserveSource
	policySource
	courseSource
	sparkSource
}

// Dashboard serves the pages.
type Dashboard struct {
	source  Source
	program string
	log     *slog.Logger
	pages   []*Page
	looks   map[string]*template.Template
	live    *hub
}

// New returns the dashboard of a source; program is the version of the program.
func New(src Source, program string, log *slog.Logger) *Dashboard {
	d := &Dashboard{source: &shared{Source: src}, program: program, log: log, pages: pages(), looks: map[string]*template.Template{}}
	for _, p := range d.pages {
		d.looks[p.Name] = parse(p.Name)
	}
	d.looks["error"] = parse("error")
	d.live = newHub(src.Version, d.parts, log)
	return d
}

// Register adds the routes of the dashboard to those of the server.
func (d *Dashboard) Register(mux *http.ServeMux) {
	for _, p := range d.pages {
		mux.Handle("GET /"+p.Path, secure(d.page(p)))
		if p.Post != nil {
			mux.Handle("POST /"+p.Path, secure(d.posted(p)))
		}
	}
	mux.Handle("POST /act", secure(http.HandlerFunc(d.act)))
	mux.Handle("GET /assets/{name}", secure(http.HandlerFunc(serveAsset)))
	mux.Handle(nowhere, secure(d.nowhere(mux)))
}

// policy is what a browser may load and run for a page: files of this server, and nothing that
// stands in the page itself.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secure tells the browser what it may do with an answer.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// page answers with a page, or with its changes from now on.
func (d *Dashboard) page(p *Page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.URL.RawQuery) > maxQuery {
			d.fail(w, r, &fairlead.Invalid{Field: "address", Msg: fmt.Sprintf("its parameters are longer than %d bytes", maxQuery)})
			return
		}
		req := request(p, d.source.You(r.Context()), r)
		if r.URL.Query().Has(liveParameter) {
			d.live.serve(w, r, p, req, d.source.You(r.Context()))
			return
		}
		if r.URL.Query().Has(csvParameter) {
			d.export(w, r, p, req, r.URL.Query().Get(csvParameter))
			return
		}
		if r.URL.Query().Has(jsonParameter) {
			d.exportJSON(w, r, p, req, r.URL.Query().Get(jsonParameter))
			return
		}
		data, err := p.Load(r.Context(), d.source, req)
		if err != nil {
			d.fail(w, r, err)
			return
		}
		d.write(w, r, p, req, data, http.StatusOK)
	})
}

// shown is what a template gets.
type shown struct {
	*Request
	Page *Page
	Data any
	Now  time.Time

	Pages   []*Page
	Who     api.Actor
	Program string
	Theme   string
	// Tables are the parts in which there are tables, to be had as CSV.
	Tables []string
	// Version is that of the parts as they stand in the page.
	Version string
}

// parts renders what changes of a page.
func (d *Dashboard) parts(ctx context.Context, p *Page, r *Request) ([]part, error) {
	data, err := p.Load(ctx, d.source, r)
	if err != nil {
		return nil, err
	}
	return d.render(p, &shown{Request: r, Page: p, Data: data, Now: time.Now()})
}

func (d *Dashboard) render(p *Page, v *shown) ([]part, error) {
	var out []part
	for _, name := range p.Parts {
		var b bytes.Buffer
		if err := d.looks[p.Name].ExecuteTemplate(&b, name, v); err != nil {
			return nil, err
		}
		out = append(out, part{name, v.finished(b.String())})
	}
	return out, nil
}

// write writes a whole page.
func (d *Dashboard) write(w http.ResponseWriter, r *http.Request, p *Page, req *Request, data any, status int) {
	v := &shown{
		Request: req, Page: p, Data: data, Now: time.Now(), Pages: d.pages, Who: d.source.You(r.Context()), Program: d.program, Theme: theme(r),
	}
	var b bytes.Buffer
	parts, err := d.render(p, v)
	if err == nil {
		v.Version, v.Tables = version(parts), tabled(parts)
		err = d.looks[p.Name].ExecuteTemplate(&b, "layout", v)
	}
	if err != nil {
		d.log.Error("a page could not be shown", "page", p.Name, "error", err)
		http.Error(w, "this page cannot be shown: see the server's log", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, v.finished(b.String()))
}

// finished is what is sent of a page, or of a part of it.
func (v *shown) finished(page string) string {
	if page = harmless(page); v.Kiosk {
		page = links.ReplaceAllString(page, "$1")
	}
	return page
}

// links are places to which a click or a key leads: a screen on a wall has none.
var links = regexp.MustCompile(`(<(?:a|tr)\b[^>]*?) (?:data-)?href="[^"]*"`)

// harmless replaces what could be mistaken wherever it comes from: characters for terminals, and
// those that turn the direction of the text around them.
func harmless(page string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, page)
}

// theme is light or dark if the user chose one, else nothing: then the browser decides.
func theme(r *http.Request) string {
	chosen := r.URL.Query().Get("theme")
	if c, err := r.Cookie("fairlead-theme"); err == nil && chosen == "" {
		chosen = c.Value
	}
	if chosen == "light" || chosen == "dark" {
		return chosen
	}
	return ""
}
