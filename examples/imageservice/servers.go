package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// fleet holds servers, each a process of its own.
type fleet struct {
	servers []*exec.Cmd
	said    []*bufio.Reader
}

// start starts servers on a schema, and waits until they work.
func start(ctx context.Context, o options) (*fleet, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f := &fleet{}
	for range o.servers {
		cmd := exec.CommandContext(ctx, program, "-serve", "-db", o.db, "-schema", o.schema, "-policy", o.policy, "-slots",
			fmt.Sprint(o.slots))
		cmd.Stderr = os.Stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return nil, errors.Join(err, f.stop(io.Discard))
		}
		f.servers, f.said = append(f.servers, cmd), append(f.said, bufio.NewReader(out))
	}
	for _, said := range f.said {
		if line, err := said.ReadString('\n'); strings.TrimSpace(line) != ready {
			return nil, errors.Join(fmt.Errorf("a server said %q: %w", line, err), f.stop(io.Discard))
		}
	}
	return f, nil
}

// stop ends the servers gently, and prints the number of images of each.
func (f *fleet) stop(out io.Writer) error {
	var all sync.WaitGroup
	errs, did := make([]error, len(f.servers)), make([]string, len(f.servers))
	for i, cmd := range f.servers {
		cmd.Process.Signal(syscall.SIGTERM)
		all.Go(func() {
			last, _ := io.ReadAll(f.said[i])
			images, _, _ := strings.Cut(string(last), " ")
			did[i], errs[i] = strings.TrimSpace(images), cmd.Wait()
		})
	}
	all.Wait()
	fmt.Fprintf(out, "  images of each server: %s\n", strings.Join(did, ", "))
	return errors.Join(errs...)
}
