package api

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	ipc "github.com/fairlead/fairlead/internal/socket"
)

// Client calls a server. Most calls are methods of its services.
type Client struct {
	Jobs   *jobsService
	Pools  *poolsService
	Nodes  *nodesService
	Config *configService

	http    *http.Client
	base    string
	Address string
	As      string // user to submit for; for administrators only
	Trace   string // the trace that submissions belong to, in the W3C format
	Token   string // identifies the program; "": the system identifies its user
}

// Each service has the calls for one part of the server.
type (
	// jobsService submits, changes and shows jobs.
	jobsService struct{ client *Client }
	// poolsService shows the tree of pools, and changes their weights, pauses and usage.
	poolsService struct{ client *Client }
	// nodesService shows nodes, licenses and rates, and keeps nodes from taking tasks.
	nodesService struct{ client *Client }
	// configService shows the configuration and changes it.
	configService struct{ client *Client }
)

// ErrUnreachable says that no server answers.
var ErrUnreachable = errors.New("no server answers")

// Dial returns a client of the server with a socket at a path. It connects when it is first used. It uses a connection
// only if root, the user of this process or one of the trusted users (by number) listens there. It accepts no other
// addresses, because nothing proves who listens on a port.
func Dial(address string, trusted ...int) (*Client, error) {
	path, socket := strings.CutPrefix(address, "unix://")
	switch {
	case path == "":
		return nil, errors.New("the path of the server's socket is empty")
	case !socket && !isPath(address):
		return nil, fmt.Errorf("%.100q is not the path of a socket; programs use the server's socket, such as /run/fairlead/fairlead.sock, because a port does not show who listens on it; for a browser: fairlead dashboard", address)
	}
	return newClient(address, "http://fairlead", &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return ipc.Dial(ctx, path, trusted...) },
	}), nil
}

func newClient(address, base string, transport *http.Transport) *Client {
	transport.MaxIdleConnsPerHost, transport.IdleConnTimeout = 8, time.Minute
	c := &Client{Address: address, base: base, http: &http.Client{Transport: transport}}
	c.Jobs, c.Pools, c.Nodes, c.Config = &jobsService{c}, &poolsService{c}, &nodesService{c}, &configService{c}
	return c
}

// DialTLS returns a client of a server on another machine, https://HOST:PORT. For each connection, the function
// "config" returns the certificates of the host that the client trusts, and the certificate that the client presents.
func DialTLS(address string, config func(host string) (*tls.Config, error)) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.Port() == "" || strings.Trim(u.Path, "/") != "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%.100q is not the address of a server on another machine, "+
			"such as https://head.example.org:7448", address)
	}
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		c, err := config(u.Hostname())
		if err != nil {
			return nil, err
		}
		return (&tls.Dialer{NetDialer: &net.Dialer{Timeout: dialTimeout}, Config: c}).DialContext(ctx, network, u.Host)
	}
	return newClient(address, "https://"+u.Host, &http.Transport{DialTLSContext: dial}), nil
}

// dialTimeout is how long a server on another machine may take to accept a connection.
const dialTimeout = 10 * time.Second

// isPath distinguishes the path of a socket, which may be relative, from HOST:PORT.
func isPath(address string) bool {
	host, _, _ := strings.Cut(address, "/")
	if !strings.Contains(host, ":") {
		return true
	}
	is, err := os.Stat(address)
	return err == nil && is.Mode()&os.ModeSocket != 0
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call sends the value "in" as JSON, if it is not nil, and decodes the answer into the value "out".
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	var reader io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(text)
	}
	resp, err := c.do(ctx, method, path, reader)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("%s %s: cannot read the server's answer: %w", method, path, err)
	}
	return nil
}

// Open requests something that is not JSON; the caller reads and closes it.
func (c *Client) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	resp, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// do sends a request. It returns the server's error answer as an error.
func (c *Client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.As != "" {
		req.Header.Set("X-Fairlead-As", c.As)
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if c.Trace != "" {
		req.Header.Set("Traceparent", c.Trace)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if stranger := new(ipc.StrangerError); errors.As(err, &stranger) {
			return nil, fmt.Errorf("%w that may be trusted: %w", ErrUnreachable, stranger)
		}
		return nil, fmt.Errorf("%w at %s: %w", ErrUnreachable, c.Address, shorten(err))
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, problem(resp)
}

// shorten removes the parts of a connection's error that the caller reports anyway.
func shorten(err error) error {
	var no syscall.Errno
	var u *url.Error
	switch {
	case errors.As(err, &no):
		return no
	case errors.As(err, &u):
		return u.Err
	}
	return err
}

// problem reads an error document. It returns the text of any other answer unchanged.
func problem(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var doc struct {
		Error
		Errors []struct{ Message, Location string }
	}
	if json.Unmarshal(text, &doc) != nil || doc.Detail == "" {
		return fmt.Errorf("the server says: %s: %s", resp.Status, strings.TrimSpace(string(text)))
	}
	var faults []string
	for _, e := range doc.Errors {
		_, field, _ := strings.Cut(e.Location, ".") // without the part of the request: body, query or path
		faults = append(faults, cmp.Or(field, e.Location)+": "+e.Message)
	}
	if all := strings.Join(faults, "; "); doc.Detail == "validation failed" && all != "" {
		doc.Detail = all // the framework's text adds nothing to that
	} else if all != "" {
		doc.Detail += "; " + all
	}
	if doc.Code == "" && resp.StatusCode == http.StatusUnprocessableEntity {
		doc.Code = "invalid"
	}
	return doc.Error.Err()
}

func get[T any](ctx context.Context, c *Client, path string, query url.Values) (*T, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	out := new(T)
	return out, c.Call(ctx, http.MethodGet, path, nil, out)
}

func post[T any](ctx context.Context, c *Client, path string, in any) (*T, error) {
	out := new(T)
	return out, c.Call(ctx, http.MethodPost, path, in, out)
}

// Status returns what the server says about itself.
func (c *Client) Status(ctx context.Context) (*ServerStatus, error) {
	return get[ServerStatus](ctx, c, "/v1/status", nil)
}

// Doctor returns the findings of the server about itself and its agents: the results of all checks or, if quick is
// set, only the current problems.
func (c *Client) Doctor(ctx context.Context, quick bool) (*Diagnosis, error) {
	if quick {
		return get[Diagnosis](ctx, c, "/v1/health", nil)
	}
	return get[Diagnosis](ctx, c, "/v1/doctor", nil)
}

// Events calls f for each event until ctx ends or f returns an error.
func (c *Client) Events(ctx context.Context, q url.Values, f func(Event) error) error {
	resp, err := c.do(ctx, http.MethodGet, "/v1/events?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	kind := ""
	for lines.Scan() {
		line := lines.Text()
		if k, ok := strings.CutPrefix(line, "event: "); ok {
			kind = k
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			if line == "" {
				kind = ""
			}
			continue
		}
		var e Event
		if kind == "alive" || json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		if err := f(e); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w at %s: the stream of events ended", ErrUnreachable, c.Address)
}
