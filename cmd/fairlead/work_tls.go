package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/joining"
)

// member is a node that may be on another machine than its server.
type member struct {
	name, dir string
	join      string // join token, or @FILE
}

// connected runs f with a client of the server: over its socket, or with a certificate if the server is on
// another machine.
func (w *member) connected(ctx context.Context, a *app, log *slog.Logger, f func(*api.Client) error) error {
	where, err := a.which()
	if err == nil && strings.HasPrefix(where.Server, "https://") {
		return w.outside(ctx, where.Server, log, f)
	}
	if w.join != "" {
		return usagef("--join needs a server on another machine, --server https://HOST:PORT")
	}
	return a.with(f)
}

// outside runs f with a client of a server on another machine, and renews the certificate meanwhile.
func (w *member) outside(ctx context.Context, address string, log *slog.Logger, f func(*api.Client) error) error {
	if err := checkNode(w.name, "node"); err != nil {
		return err
	}
	token, err := w.token()
	if err != nil {
		return err
	}
	id, err := joining.Open(ctx, joining.Options{
		Address: address, Name: w.name, Dir: w.dir,
		Token: token, Now: time.Now, Logger: log,
	})
	if err != nil {
		return err
	}
	client, err := api.DialTLS(address, id.Config)
	if err != nil {
		return usageError{err}
	}
	defer client.Close()
	keep, end := context.WithCancel(context.WithoutCancel(ctx)) // renew also while tasks end
	var all sync.WaitGroup
	all.Go(func() { id.Keep(keep) })
	defer func() { end(); all.Wait() }()
	return f(client)
}

// token returns the join token of --join. If its file is gone, the token has already been used.
func (w *member) token() (string, error) {
	path, file := strings.CutPrefix(w.join, "@")
	if !file {
		return w.join, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("--join: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
