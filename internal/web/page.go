package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// Page is one page of the dashboard.
type Page struct {
	// Name is that of its template: templates/NAME.html.
	Name string
	// Path is where it is, below the beginning of the dashboard, as a pattern of
	// http.ServeMux: "{$}", "queue", "jobs/{id}".
	Path string
	// Title stands in the navigation, and Key is the letter that leads there after g. Pages
	// without a title are reached from others.
	Title, Key string
	// Of is the name of the page in the navigation to which a page without a title belongs.
	Of string
	// Parts are the templates that are rendered again when something happened. Each stands
	// in the page in an element of that id.
	Parts []string
	// Every is after how long the page is rendered again though nothing happened; 0 is a
	// usual time.
	Every time.Duration
	// Seen says for whom one rendering is the same.
	Seen Seen
	// Load gets what the page shows.
	Load func(ctx context.Context, src Source, r *Request) (any, error)
	// Whole reads all rows of a list of jobs, where the page shows a screenful: each is called with
	// some of them at a time, in place of the rows that the page shows.
	Whole func(ctx context.Context, src Source, r *Request, each func(*Queue) error) error
	// Post carries out a request, if the address can be posted to, and returns the data that the
	// page then shows. The form is in the place of the parameters.
	Post func(ctx context.Context, src Source, r *Request) (any, error)
}

// Seen says for whom one rendering of a page is the same.
type Seen int

// By whom a page is seen alike.
const (
	ByAll  Seen = iota // it does not look at who asks
	ByRole             // it looks at the role only
	ByUser             // everybody sees their own
)

// Request is what a page is asked for.
type Request struct {
	Query url.Values
	// ID is what stands for {id} in the path of the page.
	ID string
	// You is who asks; nobody on pages that are seen alike by all.
	You You
	// Root is the way from the page to the beginning of the dashboard: ./ or ../
	Root string
	// Here is the address of the page, from its beginning, with its parameters.
	Here string
	// Live is set where the page is brought up to date: then there is time for what takes long.
	Live bool
	// Table is set if a table of the page is read in place of the page: a fault is then an error, and not
	// a part of the page that reports it.
	Table bool
	// Kiosk is set for a screen on a wall: a page without controls.
	Kiosk bool
}

// Word is a parameter that has one value.
func (r *Request) Word(name string) string { return r.Query.Get(name) }

// With is the address of the same page with another parameter; an empty value leaves it out. What
// belongs to a place in a list is left out, too.
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

// liveParameter marks a request for the changes of a page in place of the page. Its value is the
// version that the page shows.
const liveParameter = "live"

// request reads what a page is asked for.
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

// view names what all see who share a rendering.
func (r *Request) view() string {
	return strings.Join([]string{r.Here, r.You.User, r.You.Role}, "\x00")
}

// muchWaits is the number of waiting tasks from which pages do not wait for slow parts. These come
// with the next update.
const muchWaits = 2000

// patient reports whether there is time for what takes long where much waits.
func (r *Request) patient(src Source) bool { return r.Live || src.Jobs.Waiting() <= muchWaits }

// maxQuery bounds the parameters of a request, in bytes: what somebody types is much shorter, and
// the numbers of a thousand jobs fit.
const maxQuery = 16 << 10

// poolQuery are the parameters that name a pool; the whole needs none.
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
