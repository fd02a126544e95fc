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
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// tabled returns the names of the parts that contain tables.
func tabled(parts []part) (names []string) {
	for _, p := range parts {
		if strings.Contains(p.html, "<table") {
			names = append(names, p.name)
		}
	}
	return names
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

// troubledWait is how long a page may take to load while the database does not answer: the findings about that should
// show soon.
const troubledWait = time.Second

// load loads the data of a page. It gives up if that takes long and the check of the database fails.
func (d *Dashboard) load(ctx context.Context, p *Page, r *Request) (any, error) {
	hasty, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for wait.For(hasty, troubledWait) {
			if h := d.source.Server.Health(ctx); h != nil && slices.ContainsFunc(h.Checks, databaseFails) {
				cancel()
			}
		}
	}()
	data, err := p.Load(hasty, d.source, r)
	if err != nil && hasty.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("this page took longer than %v to load: %w", troubledWait, queue.ErrUnavailable)
	}
	return data, err
}

func databaseFails(c api.HealthCheck) bool { return c.Name == "database" && c.Result == api.ResultFail }

// parts renders the live parts of a page.
func (d *Dashboard) parts(ctx context.Context, p *Page, r *Request) ([]part, error) {
	data, err := d.load(ctx, p, r)
	if err != nil {
		return nil, err
	}
	return d.render(p, &shown{Request: r, Page: p, Data: data, Now: time.Now(), Health: d.source.Server.Health(ctx)})
}

// troublesPart is the part of every page that lists current problems.
const troublesPart = "troubles"

func (d *Dashboard) render(p *Page, v *shown) ([]part, error) {
	var out []part
	names := p.Parts
	if len(names) > 0 && v.Health != nil {
		names = append([]string{troublesPart}, names...)
	}
	for _, name := range names {
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
		Request: req, Page: p, Data: data, Now: time.Now(), Pages: d.pages, Program: d.program,
		Who: d.you(r.Context()).Actor, Theme: theme(r), Health: d.source.Server.Health(r.Context()),
	}
	var b bytes.Buffer
	parts, err := d.render(p, v)
	if err == nil {
		v.Version, v.Tables = version(parts), tabled(parts)
		err = d.looks[p.Name].ExecuteTemplate(&b, "layout", v)
	}
	if err != nil {
		d.source.Server.Failed(r.Context(), fmt.Errorf("the page %s could not be written: %w", p.Name, err))
		http.Error(w, "this page cannot be shown: see the server's log", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, v.finished(b.String()))
}

// policy is the content security policy of pages: a browser may load and run only files of this server, and
// nothing inside the page itself.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secure sets the security headers of an answer.
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

// shown is the data of a template.
type shown struct {
	*Request
	Page *Page
	Data any
	Now  time.Time
	// Health lists what does not work at present.
	Health *api.Diagnosis

	Pages   []*Page
	Who     api.Actor
	Program string
	Theme   string
	// Tables names the parts that contain tables, for links to CSV.
	Tables []string
	// Version is the version of the parts in the page.
	Version string
}

// finished returns the text of a page, or of a part of it, as it is sent.
func (v *shown) finished(page string) string {
	if page = harmless(page); v.Kiosk {
		page = links.ReplaceAllString(page, "$1")
	}
	return page
}

// links matches links and key targets: a page on a wall screen has no links.
var links = regexp.MustCompile(`(<(?:a|tr)\b[^>]*?) (?:data-)?href="[^"]*"`)

// harmless replaces characters that could deceive readers, whatever their source: control characters, and
// characters that change the direction of text.
func harmless(page string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, page)
}

// theme returns light or dark if the user chose one, or "", which leaves the choice to the browser.
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

// you returns the sender of a request in the form that pages use.
func (d *Dashboard) you(ctx context.Context) You { return d.source.Server.You(ctx) }
