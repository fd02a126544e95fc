package web

import (
	"html/template"
	"log/slog"
	"net/http"
)

// New returns the dashboard of a source. The argument "program" is the version of the program.
func New(src Source, program string, log *slog.Logger) *Dashboard {
	src.Pools = &shared{PoolSource: src.Pools, version: src.Server.Version}
	src.long = &longLists{}
	d := &Dashboard{source: src, program: program, log: log, pages: pages(), looks: map[string]*template.Template{}}
	for _, p := range d.pages {
		d.looks[p.Name] = parse(p.Name)
	}
	d.looks["error"] = parse("error")
	d.live = newHub(src.Server.Version, d.parts, log)
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
	mux.Handle("GET /"+findPath, secure(http.HandlerFunc(d.find)))
	mux.Handle("GET /assets/{name}", secure(http.HandlerFunc(serveAsset)))
	mux.Handle(nowhere, secure(d.nowhere(mux)))
}

// page answers with a page, or with its changes from now on.
func (d *Dashboard) page(p *Page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkQuery(r); err != nil {
			d.fail(w, r, err)
			return
		}
		req := request(p, d.you(r.Context()), r)
		if r.URL.Query().Has(liveParameter) && !p.Still {
			d.live.serve(w, r, p, req, d.you(r.Context()).Actor)
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
		data, err := d.load(r.Context(), p, req)
		if err != nil {
			d.fail(w, r, err)
			return
		}
		d.write(w, r, p, req, data, http.StatusOK)
	})
}

// posted carries out a form, and shows the result. The server has already refused forms from other sites; it
// does so for all requests that change something.
func (d *Dashboard) posted(p *Page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := form(w, r, maxPost); err != nil {
			d.fail(w, r, err)
			return
		}
		req := request(p, d.you(r.Context()), r)
		req.Query = r.PostForm
		data, err := p.Post(r.Context(), d.source, req)
		if err != nil {
			d.fail(w, r, err)
			return
		}
		d.write(w, r, p, req, data, statusOf(data))
	})
}

// maxPost bounds a posted body, in bytes: a configuration of a mebibyte, as a form.
const maxPost = 4 << 20
