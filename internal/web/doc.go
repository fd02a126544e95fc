// Package web is the dashboard: pages that the server renders, and a small script that keeps them up to date.
// It decides nothing and computes no numbers: a page shows the values of the functions that answer the HTTP
// interface, see [Source].
//
// # How a page is added
//
// A page is a [Page] in the list of pages (pages.go) and a template of its name in templates/. Its Load gets
// the data of the page from the source; the type that it returns is the page's data. If no part of [Source]
// has the data yet, it becomes a method of that part (source.go).
//
// The template defines "main", the page, and one template for each of the page's Parts, which change while
// the page is open. main places them:
//
//	{{define "main"}}<section id="tiles" class="tiles">{{template "tiles" .}}</section>{{end}}
//	{{define "tiles"}}... {{.Data.Shares.Summary.Waiting}} ...{{end}}
//
// While a browser has the page open, the server renders each part again after a change. It does so once for
// all browsers at the same address, and sends the part to the browsers whose part differs. The script
// replaces the contents of a part in place, so that focus, selection and scroll position stay. Changes by the
// user (open details, ticked boxes, text in fields) stay if the element has an id or data-key.
//
// Links begin with {{.Root}}, the relative path to the root of the dashboard. So the dashboard works behind
// any path prefix, and need not know it. The address holds all state of a page. The functions in funcs.go
// write numbers, and put the exact value beside the short one. The content security policy of the pages
// allows no inline script and no style attribute: use classes, and pictures by internal/plot.
//
// A change is an action, see act.go: a page asks for confirmation and shows the affected jobs, and a POST,
// never a GET, carries it out.
package web
