package ca

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
)

// scheme is the scheme of the identities in certificates, fairlead://CLUSTER/node/NAME.
const scheme = "fairlead"

func identity(cluster, role, name string) *url.URL {
	return &url.URL{Scheme: scheme, Host: cluster, Path: "/" + role + "/" + name}
}

// goodName matches names that need no escapes in an identity.
var goodName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)

// CheckName refuses a name that would need escapes in a certificate.
func CheckName(name string) error {
	if !goodName.MatchString(name) {
		return fmt.Errorf("%.80q is not a valid name: use 1 to 63 letters, digits, dots, hyphens and underscores", name)
	}
	return nil
}

// KeyHash returns the hash of a public key, as in certificates and requests.
func KeyHash(spki []byte) string {
	h := sha256.Sum256(spki)
	return base64.RawURLEncoding.EncodeToString(h[:])
}

// Hash returns the hash of a certificate's public key.
func Hash(c *x509.Certificate) string { return KeyHash(c.RawSubjectPublicKeyInfo) }
