package ca

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// Node makes the certificate of a node for the key of a request. It ignores everything else in the request.
func (a *Authority) Node(name, request string, now time.Time) (certificate string, err error) {
	csr, err := parseRequest(request)
	if err != nil {
		return "", err
	}
	if err := CheckName(name); err != nil {
		return "", fmt.Errorf("name of the node: %w", err)
	}
	template := a.leaf("node", name, now)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	c, err := sign(template, a.root, csr.PublicKey, a.key)
	if err != nil {
		return "", err
	}
	return encode(c), nil
}

// Server makes a key and a certificate of a server for some names and addresses.
func (a *Authority) Server(name string, hosts []string, now time.Time) (*tls.Certificate, error) {
	key, err := NewKey()
	if err != nil {
		return nil, err
	}
	template := a.leaf("server", name, now)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	c, err := sign(template, a.root, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	out := &tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: key, Leaf: c}
	for _, x := range a.crossed {
		out.Certificate = append(out.Certificate, x.Raw)
	}
	return out, nil
}

func (a *Authority) leaf(role, name string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: serial(), NotBefore: now.Add(-skew), NotAfter: now.Add(Lasts),
		Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, URIs: []*url.URL{identity(a.cluster, role, name)},
	}
}

// Holder returns the node of a certificate that the connection has verified, or "" if the certificate does
// not belong to a node of this cluster.
func (a *Authority) Holder(c *x509.Certificate) (node string) {
	if len(c.URIs) != 1 || c.URIs[0].Scheme != scheme || c.URIs[0].Host != a.cluster {
		return ""
	}
	node, is := strings.CutPrefix(c.URIs[0].Path, "/node/")
	if !is {
		return ""
	}
	return node
}

// Renewable checks that a certificate is one of ours for a node, that it ended at most [Late] ago, and that
// the request is for the same key. It returns the node and the hash of the key.
func (a *Authority) Renewable(certificate, request string, now time.Time) (node, key string, err error) {
	all, err := decode(certificate)
	if err != nil || len(all) != 1 {
		return "", "", fmt.Errorf("the certificate to renew is not readable: %w", ErrRequest)
	}
	csr, err := parseRequest(request)
	if err != nil {
		return "", "", err
	}
	c, at := all[0], now
	if at.After(c.NotAfter) {
		at = c.NotAfter
	}
	if now.After(c.NotAfter.Add(Late)) {
		return "", "", fmt.Errorf("the certificate ended at %s, more than %d days ago: %w",
			c.NotAfter.Format(time.RFC3339), Late/(24*time.Hour), ErrExpired)
	}
	_, err = c.Verify(x509.VerifyOptions{
		Roots: a.Roots(now), CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return "", "", fmt.Errorf("%w: %w", ErrRequest, err)
	}
	if node = a.Holder(c); node == "" || KeyHash(c.RawSubjectPublicKeyInfo) != KeyHash(csr.RawSubjectPublicKeyInfo) {
		return "", "", fmt.Errorf("the request is for another key: %w", ErrRequest)
	}
	return node, KeyHash(c.RawSubjectPublicKeyInfo), nil
}

// ErrExpired says that a certificate ended too long ago to be renewed.
var ErrExpired = errors.New("the node needs a new join token")
