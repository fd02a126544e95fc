package ca

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// The kinds of parts of a file.
const (
	isCertificate = "CERTIFICATE"
	isKey         = "PRIVATE KEY"
	isRequest     = "CERTIFICATE REQUEST"
)

// ErrRequest says that a request for a certificate is malformed, or that its sender does not have the key.
var ErrRequest = errors.New("the request for a certificate is not valid")

func encode(all ...*x509.Certificate) string {
	var text strings.Builder
	for _, c := range all {
		text.Write(pem.EncodeToMemory(&pem.Block{Type: isCertificate, Bytes: c.Raw}))
	}
	return text.String()
}

// decode reads certificates only, and fails on anything else.
func decode(text string) (all []*x509.Certificate, err error) {
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return all, nil
		}
		if block.Type != isCertificate {
			return nil, fmt.Errorf("a %.40s stands where certificates are expected", block.Type)
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
}

// Request makes a certificate request for a key.
func Request(key crypto.Signer) (string, error) {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: isRequest, Bytes: der})), nil
}

// RequestKey returns the hash of the key of a request, after checking that its sender has the key.
func RequestKey(request string) (string, error) {
	csr, err := parseRequest(request)
	if err != nil {
		return "", err
	}
	return KeyHash(csr.RawSubjectPublicKeyInfo), nil
}

// parseRequest reads a request, and checks that its sender has the key.
func parseRequest(text string) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != isRequest {
		return nil, ErrRequest
	}
	csr, err := x509.ParseCertificateRequest(block.Bytes)
	if err == nil {
		err = csr.CheckSignature()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	return csr, nil
}

// EncodeKey returns a key as text.
func EncodeKey(key crypto.Signer) (string, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: isKey, Bytes: der})), nil
}

// DecodeKey reads a key, and returns the text after it.
func DecodeKey(text string) (key crypto.Signer, rest string, err error) {
	block, after := pem.Decode([]byte(text))
	if block == nil || block.Type != isKey {
		return nil, "", errors.New("no private key stands at the beginning")
	}
	any, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, "", err
	}
	key, is := any.(crypto.Signer)
	if !is {
		return nil, "", errors.New("the private key cannot sign")
	}
	return key, string(after), nil
}
