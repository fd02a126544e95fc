package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/ca"
)

// openAuthority opens the key of the cluster if the server serves other machines. Without the key the server
// does not start.
func openAuthority(c config.TLS, log *slog.Logger) (*ca.Keeper, error) {
	if len(c.Listen) == 0 {
		return nil, nil
	}
	path := cmp.Or(c.Authority, defaultAuthority())
	// The certificate shows the name of the machine to everybody.
	k, err := ca.Open(path, hostname(), func() []string { return hostsHere(c.Names) }, time.Now, log)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("agents on other machines need the key of the cluster, which is missing; "+
			"as the server's user, make it with: fairlead cluster init --authority %s: %w", path, err)
	}
	return k, err
}

// defaultAuthority returns the default file of the cluster's key.
func defaultAuthority() string { return filepath.Join(stateDir("", ""), "authority.pem") }

// hostsHere returns the names and addresses of this machine for other machines.
func hostsHere(named []string) []string {
	hosts := append(slices.Clone(named), hostname())
	all, err := net.InterfaceAddrs()
	if err != nil {
		return hosts
	}
	for _, a := range all {
		if n, is := a.(*net.IPNet); is && !slices.Contains(hosts, n.IP.String()) {
			hosts = append(hosts, n.IP.String())
		}
	}
	return hosts
}

// clusterName returns a name for a new cluster.
func clusterName() string {
	name := hostname()
	if ca.CheckName(name) != nil {
		return "cluster"
	}
	return name
}

// authorityDir creates the directory for the key of the cluster.
func authorityDir(path string) error { return os.MkdirAll(filepath.Dir(path), 0o711) }
