package ca

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
)

// Token lets one node join, once. Root is the hash of the authority's root, so that the node can verify the
// server before it sends the secret.
type Token struct {
	ID, Secret, Root string
}

// NewToken makes a token.
func NewToken(root string) Token {
	var b [32]byte
	rand.Read(b[:])
	return Token{ID: rand.Text()[:10], Secret: base64.RawURLEncoding.EncodeToString(b[:]), Root: root}
}

const tokenPrefix = "fl-join"

// String returns the token as people copy it.
func (t Token) String() string {
	return strings.Join([]string{tokenPrefix, t.ID, t.Secret, t.Root}, ".")
}

// ParseToken reads a token.
func ParseToken(text string) (Token, error) {
	parts := strings.Split(strings.TrimSpace(text), ".")
	if len(parts) != 4 || parts[0] != tokenPrefix || parts[1] == "" || !hash(parts[2]) || !hash(parts[3]) {
		return Token{}, errors.New(
			"not a join token: a join token begins with fl-join. and has four parts; an administrator makes one with: " +
				"fairlead nodes permit NODE")
	}
	return Token{ID: parts[1], Secret: parts[2], Root: parts[3]}, nil
}

// hash reports whether a text has the form of a hash or a secret of 32 bytes.
func hash(text string) bool {
	b, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && len(b) == sha256.Size
}

// SecretHash returns the hash of a secret, which the store keeps in place of the secret.
func SecretHash(secret string) string { return KeyHash([]byte(secret)) }
