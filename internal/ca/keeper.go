package ca

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Keeper holds the authority of a file, and a certificate that this authority made for this server. It reads
// the file again when the file changes, and makes a new certificate when two thirds of the validity of the
// last one are over.
type Keeper struct {
	path  string
	name  string
	hosts func() []string
	now   func() time.Time
	log   *slog.Logger

	mu        sync.Mutex
	authority *Authority
	read      os.FileInfo // of the file, when it was read
	server    *tls.Certificate
}

// Open reads an authority for a server with a name. The function "hosts" returns the names and addresses at which other
// machines reach the server.
func Open(path, name string, hosts func() []string, now func() time.Time, log *slog.Logger) (*Keeper, error) {
	k := &Keeper{path: path, name: name, hosts: hosts, now: now, log: log}
	is, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if k.authority, err = Load(path); err != nil {
		return nil, err
	}
	k.read = is
	_, _, err = k.current()
	return k, err
}

// Authority returns the current authority of the file.
func (k *Keeper) Authority() *Authority {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reload()
	return k.authority
}

// Now returns the time of the clock for certificates.
func (k *Keeper) Now() time.Time { return k.now() }

// reload reads the file if it has changed. An unreadable file leaves the last good authority in use. The
// caller holds the lock.
func (k *Keeper) reload() {
	is, err := os.Stat(k.path)
	if err != nil || os.SameFile(is, k.read) && is.ModTime().Equal(k.read.ModTime()) {
		return
	}
	k.read = is
	a, err := Load(k.path)
	if err != nil {
		k.log.Error("the certificate authority is not readable; the last good one stays", "error", err)
		return
	}
	k.authority, k.server = a, nil
	k.log.Info("another certificate authority counts", "hash", a.Hash())
}

// current returns the authority and the server's certificate, with enough time left.
func (k *Keeper) current() (*Authority, *tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reload()
	now := k.now()
	if k.server == nil || now.After(k.server.Leaf.NotAfter.Add(-Lasts/3)) {
		c, err := k.authority.Server(k.name, k.hosts(), now)
		if err != nil {
			return nil, nil, fmt.Errorf("certificate of the server: %w", err)
		}
		k.server = c
	}
	return k.authority, k.server, nil
}

// Config is for the listener for other machines. Nodes present their certificates; a client without one can
// only join and renew, as the server decides.
func (k *Keeper) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			a, c, err := k.current()
			if err != nil {
				return nil, err
			}
			return &tls.Config{
				MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*c}, NextProtos: []string{"http/1.1"},
				ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: a.Roots(k.now()), Time: k.now,
				SessionTicketsDisabled: true, // a resumed session would not be checked again
			}, nil
		},
	}
}
