package ca

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// Pinned checks that a bundle has the root with a hash, and returns the bundle of that root alone. A server
// without the key of that root cannot present a certificate by that root.
func Pinned(bundle, hash string) (string, error) {
	all, err := decode(bundle)
	if err != nil {
		return "", err
	}
	for _, c := range all {
		if Hash(c) == hash && c.IsCA {
			return encode(c), nil
		}
	}
	return "", errors.New("the server's certificate authority is not the one that the join token names")
}

// Credential is the certificate of a node with its key and the roots that it trusts.
type Credential struct {
	Key         crypto.Signer
	Certificate string
	Bundle      string

	leaf  *x509.Certificate
	roots *x509.CertPool
}

// Check reads the certificate and the roots, and checks that the certificate is for the key.
func (c *Credential) Check() error {
	all, err := decode(c.Certificate)
	if err != nil || len(all) != 1 {
		return errors.Join(errors.New("one certificate is expected"), err)
	}
	c.leaf = all[0]
	public, is := c.Key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !is || !public.Equal(c.leaf.PublicKey) {
		return errors.New("the certificate is for another key")
	}
	c.roots, err = pool(c.Bundle)
	return err
}

// Window returns the validity of the certificate.
func (c *Credential) Window() (from, to time.Time) { return c.leaf.NotBefore, c.leaf.NotAfter }

// Config returns a configuration that presents the certificate to a server, and trusts the roots.
func (c *Credential) Config(host string, now func() time.Time) *tls.Config {
	own := &tls.Certificate{Certificate: [][]byte{c.leaf.Raw}, PrivateKey: c.Key, Leaf: c.leaf}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: host, RootCAs: c.roots, Time: now,
		// A server that does not trust the certificate must refuse it: without a certificate the node would
		// be unknown.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own, nil },
	}
}

// Config returns a configuration that trusts the roots of a bundle, and presents no certificate.
func Config(bundle, host string, now func() time.Time) (*tls.Config, error) {
	roots, err := pool(bundle)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, ServerName: host, RootCAs: roots, Time: now}, nil
}

func pool(bundle string) (*x509.CertPool, error) {
	all, err := decode(bundle)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no certificate of a root: %w", ErrRequest)
	}
	roots := x509.NewCertPool()
	for _, c := range all {
		roots.AddCert(c)
	}
	return roots, nil
}
