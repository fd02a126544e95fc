// Package joining makes a machine a node of a server on another machine: it creates the key, joins with a
// token, and renews the certificate. The key never leaves the machine.
package joining

import (
	"context"
	"crypto"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/ca"
	"github.com/fairlead/fairlead/internal/permit"
	"github.com/fairlead/fairlead/internal/wait"
)

// Files of an identity.
const (
	keyFile   = "key.pem"
	nodeFile  = "node.pem" // the certificate, followed by the roots
	tokenFile = "token"    // the id of the join token that was used
)

// Identity holds the key and the certificate of a node, which prove its name to the server.
type Identity struct {
	dir     string
	address string
	now     func() time.Time
	log     *slog.Logger

	mu         sync.Mutex
	credential *ca.Credential
}

// Options holds the address of the server and the place of the identity.
type Options struct {
	Address string // of the server, https://HOST:PORT
	Name    string // of the node
	Dir     string // for the key and the certificate
	Token   string // to join with; ignored once it has been used
	Now     func() time.Time
	Logger  *slog.Logger
}

// Open returns the identity of this machine. It joins if there is no identity yet or o.Token is new, and
// renews a certificate that is due.
func Open(ctx context.Context, o Options) (*Identity, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	i := &Identity{dir: o.Dir, address: o.Address, now: o.Now, log: o.Logger}
	err := i.load()
	used, _ := os.ReadFile(filepath.Join(o.Dir, tokenFile))
	token, terr := ca.ParseToken(o.Token)
	switch {
	case o.Token != "" && terr != nil:
		return nil, terr
	case o.Token != "" && (err != nil || string(used) != token.ID):
		return i, i.join(ctx, token, o.Name)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("this machine has not joined a server: an administrator gets a join token with "+
			"fairlead nodes permit %s; start the agent with that token after --join: %w", o.Name, permit.ErrUnauthenticated)
	case err != nil:
		return nil, err
	}
	return i, i.fresh(ctx)
}

// load reads the identity of an earlier agent.
func (i *Identity) load() error {
	text, err := ca.ReadSecret(filepath.Join(i.dir, keyFile))
	if err != nil {
		return err
	}
	key, _, err := ca.DecodeKey(text)
	if err != nil {
		return fmt.Errorf("%s: %w", keyFile, err)
	}
	shown, err := ca.ReadSecret(filepath.Join(i.dir, nodeFile))
	if err != nil {
		return err
	}
	certificate, roots := split(shown)
	return i.use(&ca.Credential{Key: key, Certificate: certificate, Bundle: roots})
}

// split separates the certificate from the roots after it.
func split(text string) (certificate, roots string) {
	const end = "-----END CERTIFICATE-----\n"
	certificate, roots, _ = strings.Cut(text, end)
	return certificate + end, roots
}

func (i *Identity) use(c *ca.Credential) error {
	if err := c.Check(); err != nil {
		return fmt.Errorf("certificate of the node: %w", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.credential = c
	return nil
}

func (i *Identity) current() *ca.Credential {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.credential
}

// Config returns the configuration of a connection to the server, with the current certificate.
func (i *Identity) Config(host string) (*tls.Config, error) {
	return i.current().Config(host, i.now), nil
}

// join gets the first certificate. It checks that the server has the authority that the token names before it
// sends the secret of the token.
func (i *Identity) join(ctx context.Context, t ca.Token, name string) error {
	roots, err := i.pinned(ctx, t.Root)
	if err != nil {
		return err
	}
	key, err := i.key()
	if err != nil {
		return err
	}
	request, err := ca.Request(key)
	if err != nil {
		return err
	}
	in := permit.Join{Node: name, ID: t.ID, Secret: t.Secret, Request: request}
	c := &ca.Credential{Key: key, Bundle: roots}
	if err := i.ask(ctx, "join", c, in); err != nil {
		return fmt.Errorf("join the server: %w", err)
	}
	i.log.Info("joined with a token; the certificate is renewed from now on", "node", name, "token", t.ID)
	return ca.WriteSecret(filepath.Join(i.dir, tokenFile), t.ID)
}

// pinned gets the root with this hash. The other end of the connection is not authenticated yet, so the
// request contains nothing that is secret.
func (i *Identity) pinned(ctx context.Context, hash string) (string, error) {
	anybody, err := api.DialTLS(i.address, func(host string) (*tls.Config, error) {
		return &tls.Config{MinVersion: tls.VersionTLS13, ServerName: host, InsecureSkipVerify: true}, nil
	})
	if err != nil {
		return "", err
	}
	defer anybody.Close()
	var all permit.Roots
	if err := anybody.Call(ctx, http.MethodGet, "/v1/cluster/roots", nil, &all); err != nil {
		return "", err
	}
	return ca.Pinned(all.Roots, hash)
}

// key returns the key of this machine. An earlier attempt to join may have created it.
func (i *Identity) key() (key crypto.Signer, err error) {
	path := filepath.Join(i.dir, keyFile)
	text, err := ca.ReadSecret(path)
	if err == nil {
		key, _, err = ca.DecodeKey(text)
		return key, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if key, err = ca.NewKey(); err != nil {
		return nil, err
	}
	if text, err = ca.EncodeKey(key); err != nil {
		return nil, err
	}
	return key, ca.WriteSecret(path, text)
}

// ask requests a certificate, and stores it. It authenticates the server by the roots of the credential.
func (i *Identity) ask(ctx context.Context, what string, c *ca.Credential, in any) error {
	client, err := api.DialTLS(i.address, func(host string) (*tls.Config, error) {
		return ca.Config(c.Bundle, host, i.now)
	})
	if err != nil {
		return err
	}
	defer client.Close()
	var out permit.Certified
	if err := client.Call(ctx, http.MethodPost, "/v1/cluster/"+what, in, &out); err != nil {
		return err
	}
	if err := i.use(&ca.Credential{Key: c.Key, Certificate: out.Certificate, Bundle: out.Roots}); err != nil {
		return err
	}
	return ca.WriteSecret(filepath.Join(i.dir, nodeFile), out.Certificate+out.Roots)
}

// Renew gets a new certificate for the key.
func (i *Identity) Renew(ctx context.Context) error {
	c := i.current()
	request, err := ca.Request(c.Key)
	if err != nil {
		return err
	}
	if err := i.ask(ctx, "renew", c, permit.Renew{Certificate: c.Certificate, Request: request}); err != nil {
		return fmt.Errorf("renew the certificate: %w", err)
	}
	return nil
}

// due returns how long it is until the certificate has to be renewed: at two thirds of its lifetime.
func (i *Identity) due() time.Duration {
	from, to := i.current().Window()
	return from.Add(to.Sub(from) * 2 / 3).Sub(i.now())
}

// fresh renews a certificate that is due. If the server does not answer, a valid certificate continues to
// serve.
func (i *Identity) fresh(ctx context.Context) error {
	if i.due() > 0 {
		return nil
	}
	err := i.Renew(ctx)
	if _, to := i.current().Window(); err != nil && i.now().Before(to) && !errors.Is(err, permit.ErrUnauthenticated) {
		i.log.Warn("the certificate is renewed later", "error", err)
		return nil
	}
	return err
}

// looksEvery is how often a machine checks its clock: timers stop while the machine sleeps.
const looksEvery = 10 * time.Minute

// Keep renews the certificate in time, until ctx ends.
func (i *Identity) Keep(ctx context.Context) {
	again := wait.Backoff{First: time.Second, Max: 5 * time.Minute}
	for wait.For(ctx, min(max(i.due(), 0), looksEvery)) {
		if i.due() > 0 {
			continue
		}
		err := i.Renew(ctx)
		if err == nil {
			again.Reset()
			_, to := i.current().Window()
			i.log.Info("renewed the certificate", "until", to)
			continue
		}
		pause := again.Next()
		if ctx.Err() == nil {
			i.log.Warn("the certificate is not renewed; trying again", "error", err, "in", pause)
		}
		if !wait.For(ctx, pause) {
			return
		}
	}
}
