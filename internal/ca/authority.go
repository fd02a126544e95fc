package ca

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net/url"
	"time"
)

// How long certificates last.
const (
	rootLasts = 10 * 365 * 24 * time.Hour
	// Lasts is the validity of the certificate of a node or a server.
	Lasts = 24 * time.Hour
	// Late is the time after its end in which the certificate of a node may still be renewed.
	Late = 7 * 24 * time.Hour
	// skew is the maximum lag of the clock of another machine.
	skew = 5 * time.Minute
)

// Authority makes the certificates of a cluster. It is immutable: [Authority.Exchange] makes a new one.
type Authority struct {
	cluster string
	key     crypto.Signer
	root    *x509.Certificate
	// The field older holds the roots from before an exchange. The field crossed is the new root as signed by
	// the old root: nodes that know only the old root use it to verify a server.
	older   []*x509.Certificate
	crossed []*x509.Certificate
}

// New makes an authority with a root of its own.
func New(cluster string, now time.Time) (*Authority, error) {
	if err := CheckName(cluster); err != nil {
		return nil, fmt.Errorf("name of the cluster: %w", err)
	}
	key, err := NewKey()
	if err != nil {
		return nil, err
	}
	template := rootTemplate(cluster, now)
	root, err := sign(template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &Authority{cluster: cluster, key: key, root: root}, nil
}

// Exchange makes an authority with a new root, which the old root has signed as well. Certificates by the old
// root stay trusted until each node has had time to renew its own.
func (a *Authority) Exchange(now time.Time) (*Authority, error) {
	next, err := New(a.cluster, now)
	if err != nil {
		return nil, err
	}
	template := rootTemplate(a.cluster, now)
	template.Subject = next.root.Subject
	crossed, err := sign(template, a.root, next.key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	next.older, next.crossed = a.believed(now), []*x509.Certificate{crossed}
	return next, nil
}

// Cluster returns the name of the cluster.
func (a *Authority) Cluster() string { return a.cluster }

// Hash returns the hash of the root's public key, as in join tokens.
func (a *Authority) Hash() string { return Hash(a.root) }

// Roots returns the certificates of the roots that are trusted at an instant, the newest first.
func (a *Authority) Roots(now time.Time) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range a.believed(now) {
		pool.AddCert(c)
	}
	return pool
}

// Bundle returns the same certificates as [Authority.Roots], as text.
func (a *Authority) Bundle(now time.Time) string { return encode(a.believed(now)...) }

func (a *Authority) believed(now time.Time) []*x509.Certificate {
	all := []*x509.Certificate{a.root}
	if now.Before(a.root.NotBefore.Add(skew + Lasts + Late)) {
		all = append(all, a.older...)
	}
	return all
}

// rootTemplate returns the template of a root. Its subject is random, so that it distinguishes roots.
func rootTemplate(cluster string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: serial(), NotBefore: now.Add(-skew), NotAfter: now.Add(rootLasts),
		Subject: pkix.Name{CommonName: "fairlead " + cluster + " root " + rand.Text()[:8]},
		IsCA:    true, BasicConstraintsValid: true, MaxPathLen: 1,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		URIs:     []*url.URL{identity(cluster, "root", "")},
	}
}

// NewKey makes a key.
func NewKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func serial() *big.Int {
	var b [16]byte
	rand.Read(b[:])
	b[0] &= 0x7f
	return new(big.Int).SetBytes(b[:])
}

func sign(template, parent *x509.Certificate, of crypto.PublicKey, by crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, of, by)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// selfSigned distinguishes a root from the same root signed by another one.
func selfSigned(c *x509.Certificate) bool { return bytes.Equal(c.RawIssuer, c.RawSubject) }
