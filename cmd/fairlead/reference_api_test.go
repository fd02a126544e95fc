package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/server"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/memory"
)

// newTestServer returns a server without jobs and nodes.
func newTestServer(t *testing.T) *server.Server {
	t.Helper()
	s, _ := newTestLoop(t)
	return s
}

// newTestLoop returns such a server with its loop, which is not running.
func newTestLoop(t *testing.T) (*server.Server, *engine.Loop) {
	t.Helper()
	store := memory.New("cpu")
	shares := allocation.Default()
	shares.Sched.Root.Pools = []share.Pool{{Name: "physics", Weight: 1}} // some metrics need a pool below the root
	loop, err := engine.NewLoop(t.Context(), store, engine.LoopOptions{Shares: shares})
	if err != nil {
		t.Fatal(err)
	}
	return server.New(server.Options{Loop: loop, Store: store, Program: version}), loop
}

// idler is a worker that does nothing.
type idler struct{}

func (idler) Start([]*queue.Lease)     {}
func (idler) Stop([]queue.Ref, string) {}

// newBusyServer returns a server on which a task has started, because some metrics need one.
func newBusyServer(t *testing.T, ctx context.Context) *server.Server {
	t.Helper()
	s, loop := newTestLoop(t)
	watch := loop.Watch()
	defer watch.Close()
	ran := make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	t.Cleanup(func() { stop(); <-ran })
	go func() { ran <- loop.Run(ctx) }()
	capacity, err := engine.AgentCapacity(queue.Amounts{"cpu": 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Join(ctx, "n1", capacity, engine.NodeInfo{}, idler{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Intake.SubmitAnyway(ctx, []queue.Job{{User: "ann", Pool: "physics", Kind: "check", Argv: []string{"true"}}}); err != nil {
		t.Fatal(err)
	}
	for e := range watch.C {
		if e.Code == "started" {
			break
		}
	}
	return s
}

// openAPI returns the OpenAPI document, indented.
func openAPI(t *testing.T) string {
	t.Helper()
	text, err := newTestServer(t).OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}

// openDocument is the part of the document that the tables show.
type openDocument struct {
	Paths map[string]map[string]struct {
		Summary    string
		Tags       []string
		Parameters []struct {
			Name, In, Description string
			Required              bool
			Schema                struct {
				Default any
				Enum    []any
			}
		}
		RequestBody struct {
			Content map[string]struct {
				Schema struct {
					Ref string `json:"$ref"`
				}
			}
		}
	}
}

// routesText returns tables of the routes and their parameters.
func routesText(t *testing.T, text string) string {
	t.Helper()
	var doc openDocument
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	byTag := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			op := doc.Paths[path][method]
			var takes []string
			for media, c := range op.RequestBody.Content {
				if media == "application/json" {
					takes = append(takes, "body `"+c.Schema.Ref[strings.LastIndexByte(c.Schema.Ref, '/')+1:]+"`")
				}
			}
			for _, p := range op.Parameters {
				if p.In == "path" {
					continue
				}
				one := "`" + p.Name + "`"
				if p.In == "header" {
					one = "header " + one
				}
				if p.Description != "" {
					one += " (" + strings.ToLower(p.Description[:1]) + p.Description[1:] + ")"
				}
				takes = append(takes, one)
			}
			byTag[op.Tags[0]] += mdRow("`"+strings.ToUpper(method)+" "+path+"`", op.Summary, strings.Join(takes, "; "))
		}
	}
	var b strings.Builder
	for _, tag := range []string{"jobs", "cluster", "agents"} {
		fmt.Fprintf(&b, "### Routes: %s\n\n%s|---|---|---|\n%s\n", tag, mdRow("route", "what it does", "takes"), byTag[tag])
	}
	return b.String()
}

// metricsText returns a table of the server's own metrics, from its answer.
func metricsText(t *testing.T) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error)
	s := newBusyServer(t, ctx)
	go func() { served <- s.Serve(ctx, l) }()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	var text []byte
	for range 2 { // the second answer counts the first request
		resp, err := client.Get("http://fairlead/metrics")
		if err != nil {
			t.Fatal(err)
		}
		if text, err = io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	client.CloseIdleConnections()
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	return metricRows(string(text))
}

var sample = regexp.MustCompile(`(?m)^(fairlead_\w+)\{([^}]*)\}`)

func metricRows(text string) string {
	labels := map[string][]string{}
	for _, m := range sample.FindAllStringSubmatch(text, -1) {
		for pair := range strings.SplitSeq(m[2], ",") {
			name, _, _ := strings.Cut(pair, "=")
			if !slices.Contains(labels[m[1]], name) && name != "le" {
				labels[m[1]] = append(labels[m[1]], name)
			}
		}
	}
	kinds := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (fairlead_\w+) (\w+)`).FindAllStringSubmatch(text, -1) {
		kinds[m[1]] = m[2]
	}
	var b strings.Builder
	b.WriteString(mdRow("metric", "type", "labels", "meaning") + "|---|---|---|---|\n")
	for _, m := range regexp.MustCompile(`(?m)^# HELP (fairlead_\w+) (.*)`).FindAllStringSubmatch(text, -1) {
		of := labels[m[1]]
		switch kinds[m[1]] {
		case "histogram":
			of = labels[m[1]+"_bucket"]
		case "summary":
			of = labels[m[1]+"_count"]
		}
		b.WriteString(mdRow("`"+m[1]+"`", kinds[m[1]], strings.Join(of, ", "), m[2]))
	}
	return b.String()
}
