// Package token makes the credentials of programs: a token is a secret text that authenticates its owner,
// with fewer rights than the owner has. Each store is a [Keeper], which stores tokens without the secret.
package token

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// ErrUnauthenticated says that a request showed no valid token.
var ErrUnauthenticated = errors.New("not authenticated")

// Scopes of a token. The scope [Run] may name one kind of jobs: run:KIND.
const (
	Read    = "read"    // look at the cluster
	Submit  = "submit"  // submit jobs
	Alter   = "alter"   // hold, release, cancel and change jobs
	Output  = "output"  // read the output of jobs, their variables and data
	Run     = "run"     // run jobs, as an agent, a worker or a bridge
	Operate = "operate" // pause and boost pools
	Admin   = "admin"   // everything that the owner may do
)

// Scopes are all scopes, without kinds.
var Scopes = []string{Read, Submit, Alter, Output, Run, Operate, Admin}

// How long a token is valid.
const (
	Lasts       = 90 * 24 * time.Hour  // by default
	MaxLifetime = 365 * 24 * time.Hour // at most
)

// MaxPerOwner is how many valid tokens one owner may have at a time.
const MaxPerOwner = 100

// Token is a token without its secret.
type Token struct {
	ID      string    `json:"id" doc:"Names the token; it is no secret"`
	Owner   string    `json:"owner" doc:"The user as whom it acts"`
	UID     int       `json:"uid" doc:"The owner's number on the server's machine"`
	Scopes  []string  `json:"scopes" doc:"What it is good for"`
	Pools   []string  `json:"pools,omitempty" doc:"Where it is good, with the pools below; absent: everywhere"`
	Note    string    `json:"note,omitempty" doc:"What it is for"`
	By      string    `json:"by" doc:"Who made it"`
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`
	Used    time.Time `json:"used,omitzero" doc:"When it was last used, to some minutes"`
	Revoked time.Time `json:"revoked,omitzero"`
	// Hash is the SHA-256 of the secret.
	Hash string `json:"-"`
}

// Keeper stores tokens. Its methods are transactions.
type Keeper interface {
	// AddToken stores a token that is valid from now on. It fails with [queue.ErrState] if the owner has
	// [MaxPerOwner] valid tokens.
	AddToken(ctx context.Context, t Token, lasts time.Duration) (*Token, error)
	// Tokens returns the tokens with these ids, or all, sorted by id.
	Tokens(ctx context.Context, ids ...string) ([]Token, error)
	// UsedToken records that a token was used now.
	UsedToken(ctx context.Context, id string) error
	// RevokeToken revokes a token. It fails with [queue.ErrNotFound] if there is no such token, and does
	// nothing if it was revoked before.
	RevokeToken(ctx context.Context, id string) error
}

const prefix = "fl_"

// idLength is the length of an id in characters: five bytes in hexadecimal digits.
const idLength = 10

// New makes a secret text, the id in it, and the hash of its secret.
func New() (text, id, hash string) {
	var some [idLength / 2]byte
	var secret [32]byte
	rand.Read(some[:])
	rand.Read(secret[:])
	id = hex.EncodeToString(some[:])
	letters := base64.RawURLEncoding.EncodeToString(secret[:])
	return prefix + id + "_" + letters, id, hashOf(letters)
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Split returns the id in the text of a token, and the hash of its secret.
func Split(text string) (id, hash string, err error) {
	rest, is := strings.CutPrefix(text, prefix)
	id, secret, cut := strings.Cut(rest, "_")
	if !is || !cut || len(id) != idLength || len(secret) != base64.RawURLEncoding.EncodedLen(32) {
		return "", "", fmt.Errorf("not a token: a token looks like %sID_SECRET, see fairlead token create: %w",
			prefix, ErrUnauthenticated)
	}
	return id, hashOf(secret), nil
}

// Check says why a token is not valid at a time for a secret with this hash. Its run time does not depend on
// the hashes.
func (t *Token) Check(hash string, now time.Time) error {
	switch {
	case subtle.ConstantTimeCompare([]byte(t.Hash), []byte(hash)) != 1:
		return Unknown()
	case !t.Revoked.IsZero():
		return fmt.Errorf("the token %s was revoked; make a new one with fairlead token create: %w", t.ID, ErrUnauthenticated)
	case !now.Before(t.Expires):
		return fmt.Errorf("the token %s has expired; make a new one with fairlead token create: %w",
			t.ID, ErrUnauthenticated)
	}
	return nil
}

// Counts reports whether a token is valid: it was not revoked and has not expired.
func (t *Token) Counts(now time.Time) bool { return t.Revoked.IsZero() && now.Before(t.Expires) }

// TooMany returns the error for an owner who has [MaxPerOwner] tokens.
func TooMany(owner string) error {
	return fmt.Errorf("%s has %d tokens, the maximum; revoke some with fairlead token revoke ID: %w",
		owner, MaxPerOwner, queue.ErrState)
}

// Lists returns the scopes and pools of a token as JSON, for a store.
func Lists(t *Token) (scopes, pools string, err error) {
	a, err1 := json.Marshal(t.Scopes)
	b, err2 := json.Marshal(t.Pools)
	return string(a), string(b), errors.Join(err1, err2)
}

// Unknown returns the error for an unknown token; it does not show whether the id exists.
func Unknown() error { return fmt.Errorf("there is no such token: %w", ErrUnauthenticated) }

// CheckScope says why a text is not a scope; "" if it is one.
func CheckScope(scope string) string {
	kind, of, limited := strings.Cut(scope, ":")
	if !slices.Contains(Scopes, kind) || limited && (kind != Run || of == "") {
		return fmt.Sprintf("unknown scope %.60q; the scopes are %s, and run:KIND for jobs of one kind",
			scope, strings.Join(Scopes, ", "))
	}
	return ""
}
