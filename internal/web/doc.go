// Package web is the dashboard: pages that the server renders, and one small script that keeps
// them up to date. It decides nothing and computes no number: what a page shows are the values of
// the very functions that answer the HTTP interface, see [Source].
//
// # How a page is added
//
// A page is a [Page] in the list of pages (pages.go) and a template of its name in templates/.
// Its Load gets what the page shows from the source; the type that it returns is the page's
// data. What no part of [Source] has yet becomes a method of that part (source.go).
//
// The template defines "main", which is the page, and one template for each of its Parts, which
// is what changes: main says where it stands,
//
//	{{define "main"}}<section id="tiles" class="tiles">{{template "tiles" .}}</section>{{end}}
//	{{define "tiles"}}... {{.Data.Shares.Summary.Waiting}} ...{{end}}
//
// While anybody looks at the page, each part is rendered again when something happened, once for
// all who look at the same address, and sent to those who have another one. Everything in a part
// is replaced in place, so that focus, selection and scrolling stay; what a user changes (open
// details, ticked boxes, text in fields) stays if it has an id or data-key.
//
// Links begin with {{.Root}}, the way to the beginning of the dashboard: so it works behind any
// path prefix without knowing it. All state of a page is in its address. Numbers are written by
// the functions in funcs.go, which put the exact value beside the short one. The policy of the
// pages allows no inline script and no style attribute: classes, and pictures by internal/plot.
//
// What changes something is an action, see act.go: asked by a page that shows who is hit, and
// done by a POST, never by a GET.
package web
