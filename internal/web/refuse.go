package web

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

var errorPage = &Page{Name: "error"}

// fail reports an error, with the status from the table of errors.
func (d *Dashboard) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) {
		return // the client has disconnected
	}
	if api.Status(err) == http.StatusInternalServerError {
		d.source.Server.Failed(r.Context(), err)
	}
	req := request(errorPage, You{}, r)
	req.Query, req.Here = nil, ""
	d.write(w, r, errorPage, req, refusal{api.FromError(err), typedIn(r)}, api.Status(err))
}

// Refuse answers a request with a refusal: a page with the reason, or an error document for the HTTP
// interface.
func (d *Dashboard) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	secure(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			api.WriteProblem(w, api.Status(err), api.FromError(err))
			return
		}
		d.fail(w, r, err)
	})).ServeHTTP(w, r)
}

// Deny refuses a request with a given status: browsers get a page, programs a document.
func (d *Dashboard) Deny(w http.ResponseWriter, r *http.Request, status int, e *api.Error) {
	secure(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.refuse(w, r, e, status) })).ServeHTTP(w, r)
}

// missing returns an error for a thing that does not exist.
func missing(format string, args ...any) error {
	return queue.Missingf(format, args...)
}

func (d *Dashboard) refuse(w http.ResponseWriter, r *http.Request, e *api.Error, status int) {
	if strings.HasPrefix(r.URL.Path, "/v1/") || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		api.WriteProblem(w, status, e)
		return
	}
	if status == http.StatusUnauthorized && r.Method == http.MethodPost { // a session may have ended
		if err := form(w, r, maxForm); err != nil {
			r.PostForm = nil
		}
	}
	req := request(errorPage, You{}, r)
	req.Query, req.Here = nil, ""
	d.write(w, r, errorPage, req, refusal{e, typedIn(r)}, status)
}

// refusal is the data of the error page. It keeps long texts of the form that was refused, so that they are not lost.
type refusal struct {
	*api.Error
	Typed []string
}

// keptText is the length of the shortest text that the error page keeps, in bytes. A shorter text is quickly typed.
const keptText = 40

// typedIn returns the long texts of the posted form of a request, if the form was read.
func typedIn(r *http.Request) (texts []string) {
	for _, field := range slices.Sorted(maps.Keys(r.PostForm)) {
		for _, text := range r.PostForm[field] {
			if len(text) >= keptText || strings.Contains(text, "\n") {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// nowhere is the pattern for all addresses without another pattern.
const nowhere = "/{rest...}"

// nowhere answers for addresses that do not exist, or not with this method.
func (d *Dashboard) nowhere(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if methods := methodsOf(mux, r); len(methods) > 0 {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			d.refuse(w, r, &api.Error{Code: "invalid",
				Detail: fmt.Sprintf("%.100q does not accept %.20s; use %s", r.URL.Path, r.Method,
					strings.Join(methods, " or "))}, http.StatusMethodNotAllowed)
			return
		}
		what := "page"
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			what = "address"
		}
		err := missing("there is no %s %.100q", what, r.URL.Path)
		d.refuse(w, r, api.FromError(err), http.StatusNotFound)
	})
}

// methodsOf returns the methods that an address accepts.
func methodsOf(mux *http.ServeMux, r *http.Request) (methods []string) {
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		asked := *r
		asked.Method = m
		if _, pattern := mux.Handler(&asked); !slices.Contains([]string{"", nowhere}, pattern) {
			methods = append(methods, m)
		}
	}
	return methods
}

// maxForm bounds the posted form of an action, in bytes.
const maxForm = 256 << 10

// form reads a posted form of at most a number of bytes. The server bounds the time: the deadline of a
// request stays until its whole body is read, also if code after a failure here reads on.
func form(w http.ResponseWriter, r *http.Request, most int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := r.ParseForm(); errors.Is(err, queue.ErrBusy) {
		return err
	} else if err != nil {
		return &queue.Invalid{Field: "form", Msg: err.Error()}
	}
	return nil
}

// refusable is the data of a page that shows its form again if the form was refused.
type refusable interface {
	refused() error // nil if the form was not refused
}

// statusOf is the status of the answer to a form.
func statusOf(data any) int {
	if again, ok := data.(refusable); ok && again.refused() != nil {
		return api.Status(again.refused())
	}
	return http.StatusOK
}
