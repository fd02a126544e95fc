package web

import "net/http"

// maxPost bounds what is posted, in bytes: a configuration of a mebibyte, as a form.
const maxPost = 4 << 20

// posted does what a form asks for, and shows what came of it. Whether another site sent it
// was looked at before, for all requests that change something.
func (d *Dashboard) posted(p *Page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := form(w, r, maxPost); err != nil {
			d.fail(w, r, err)
			return
		}
		req := request(p, d.source.You(r.Context()), r)
		req.Query = r.PostForm
		data, err := p.Post(r.Context(), d.source, req)
		if err != nil {
			d.fail(w, r, err)
			return
		}
		d.write(w, r, p, req, data, http.StatusOK)
	})
}
