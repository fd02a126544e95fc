package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// docFile writes a file from a page of the documentation into the work directory: docfile PAGE FILE. It takes
// the block that the page marks with the file's name, word for word.
func docFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: docfile PAGE FILE")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", args[0]))
	ts.Check(err)
	_, text, found := strings.Cut(string(page), "<!-- file: "+args[1]+" -->\n")
	if _, text, _ = strings.Cut(text, "\n"); !found { // without the first line of the block
		ts.Fatalf("%s has no file %s", args[0], args[1])
	}
	text, _, _ = strings.Cut(text, "```")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// groupsOf opens a second socket, next to the server's, on which users belong to given groups, whether or not the
// machine knows them: groups USER=GROUP... A job that is submitted there with --as USER has the user's group, as if the
// machine knew it.
func groupsOf(ts *testscript.TestScript, neg bool, args []string) {
	socket := ts.Getenv("SOCKET")
	group := map[string]string{}
	for _, a := range args {
		name, g, _ := strings.Cut(a, "=")
		group[name] = g
	}
	listener, err := net.Listen("unix", socket+"g")
	ts.Check(err)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "fairlead"})
			if g := group[r.In.Header.Get("X-Fairlead-As")]; g != "" {
				r.Out.Header.Set("X-Fairlead-Group", g)
			}
		},
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}},
	}
	server := &http.Server{Handler: proxy}
	go server.Serve(listener)
	ts.Defer(func() { server.Close() })
	ts.Setenv("FAIRLEAD_SERVER", socket+"g")
}
