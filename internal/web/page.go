package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// Page is one page of the dashboard.
type Page struct {
	// Name is the name of its template: templates/NAME.html.
	Name string
	// Path is its address, relative to the root of the dashboard, as a pattern of http.ServeMux: "{$}",
	// "queue", "jobs/{id}".
	Path string
	// Title is its name in the navigation, and Key the letter that opens it after g. Other pages lead to
	// pages without a title.
	Title, Key string
	// Of names the page in the navigation to which a page without a title belongs.
	Of string
	// Parts names the templates that are rendered again after a change. The page contains each in an element
	// with that id.
	Parts []string
	// Still is set if an open page is not updated; its parts then serve only to export its tables.
	Still bool
	// Every is the interval at which the page is rendered again without a change; 0 means liveRest.
	Every time.Duration
	// Seen says which users can share one rendering.
	Seen Seen
	// Load gets the data of the page.
	Load func(ctx context.Context, src Source, r *Request) (any, error)
	// Whole reads all rows of a list of jobs, while the page shows a screenful. It calls the function "each"
	// with some rows at a time.
	Whole func(ctx context.Context, src Source, r *Request, each func(*Queue) error) error
	// Post carries out a posted form and returns the data that the page then shows. The form replaces the
	// parameters. It is nil if the address cannot be posted to.
	Post func(ctx context.Context, src Source, r *Request) (any, error)
}

// Seen says which users can share one rendering of a page.
type Seen int

// The sharing of renderings.
const (
	ByAll  Seen = iota // the page is the same for all
	ByRole             // the page depends on the role only
	ByUser             // the page depends on the user
)

// Request is a request for a page.
type Request struct {
	Query url.Values
	// ID is the value of {id} in the path of the page.
	ID string
	// You is the sender of the request; it is empty on pages that are the same for all.
	You You
	// Root is the relative path from the page to the root of the dashboard: ./ or ../
	Root string
	// Here is the address of the page, relative to the root of the dashboard, with its parameters.
	Here string
	// Live is set if an open page is updated: then there is time for slow parts.
	Live bool
	// Table is set if a table is read in place of the page: then a fault is an error, instead of a part of
	// the page that reports it.
	Table bool
	// Posted is set if the parameters are those of a posted form.
	Posted bool
	// Kiosk is set for a wall screen: a page without controls.
	Kiosk bool
}

// Word returns a parameter with one value.
func (r *Request) Word(name string) string { return r.Query.Get(name) }

// With returns the address of the same page with another parameter; an empty value removes it. It also
// removes the position in a list.
func (r *Request) With(name, value string) string {
	q := url.Values{}
	for k, v := range r.Query {
		if k != "after" && k != "before" {
			q[k] = v
		}
	}
	q.Set(name, value)
	if value == "" {
		q.Del(name)
	}
	path, _, _ := strings.Cut(r.Here, "?")
	if len(q) == 0 {
		return r.Root + path
	}
	return r.Root + path + "?" + q.Encode()
}

// liveParameter marks a request for the changes of a page in place of the page. Its value is the version that
// the page shows.
const liveParameter = "live"

// request reads a request for a page.
func request(p *Page, you You, r *http.Request) *Request {
	q := r.URL.Query()
	q.Del(liveParameter)
	q.Del(csvParameter)
	q.Del(jsonParameter)
	out := &Request{Query: q, ID: r.PathValue("id"), Root: "./", Kiosk: q.Has("kiosk")}
	out.Here = strings.TrimPrefix(r.URL.EscapedPath(), "/")
	out.Root += strings.Repeat("../", strings.Count(out.Here, "/"))
	if len(q) > 0 {
		out.Here += "?" + q.Encode()
	}
	switch p.Seen {
	case ByUser:
		out.You = you
	case ByRole:
		out.You = You{Actor: api.Actor{Admin: you.Admin}, Role: you.Role, May: you.May}
	}
	return out
}

// view returns a key that is equal for all who share a rendering.
func (r *Request) view() string {
	return strings.Join([]string{r.Here, r.You.User, r.You.Role}, "\x00")
}

// muchWaits is the number of waiting tasks above which pages do not wait for slow parts. These come with the
// next update.
const muchWaits = 2000

// patient reports whether there is time for slow parts.
func (r *Request) patient(src Source) bool { return r.Live || src.Jobs.Waiting() <= muchWaits }

// maxQuery bounds the parameters of a request, in bytes: typed text is much shorter, and the numbers of a
// thousand jobs fit.
const maxQuery = 16 << 10

// checkQuery refuses a request whose parameters are too long.
func checkQuery(r *http.Request) error {
	if len(r.URL.RawQuery) > maxQuery {
		return &queue.Invalid{Field: "address", Msg: fmt.Sprintf("its parameters are longer than %d bytes", maxQuery)}
	}
	return nil
}

// poolQuery returns the parameters that name a pool; the root pool needs none.
func poolQuery(path string) string {
	if path == "" {
		return ""
	}
	return "?pool=" + url.QueryEscape(path)
}

// csvParameter asks for the tables of one part of a page, in place of the page.
const csvParameter = "csv"

// jsonParameter asks for all jobs of a list as JSON, in place of the page.
const jsonParameter = "json"
