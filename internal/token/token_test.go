package token_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/token"
)

// TestTexts checks that a text contains its id and a secret that matches only its hash, and that any change
// makes it invalid.
func TestTexts(t *testing.T) {
	text, id, hash := token.New()
	made := time.Now()
	k := token.Token{ID: id, Hash: hash, Made: made, Expires: made.Add(time.Hour)}
	counts := func(text string, at time.Time) error {
		id, hash, err := token.Split(text)
		if err != nil {
			return err
		}
		if id != k.ID {
			return token.Unknown()
		}
		return k.Check(hash, at)
	}
	if err := counts(text, made); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, hash) || strings.Contains(hash, text) {
		t.Error("the hash shows the secret")
	}
	for i := range text {
		for _, c := range []byte{'_', 'A', 'z', '0', ' '} {
			if text[i] == c {
				continue
			}
			if err := counts(text[:i]+string(c)+text[i+1:], made); !errors.Is(err, token.ErrUnauthenticated) {
				t.Errorf("letter %d changed to %q: %v", i, c, err)
			}
		}
	}
	for what, text := range map[string]string{
		"nothing": "", "longer": text + "A", "shorter": text[:len(text)-1], "another scheme": "fx" + text[2:],
	} {
		if err := counts(text, made); !errors.Is(err, token.ErrUnauthenticated) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := counts(text, made.Add(time.Hour)); !errors.Is(err, token.ErrUnauthenticated) {
		t.Errorf("after its time: %v", err)
	}
	if other, _, _ := token.New(); other == text {
		t.Error("two tokens are equal")
	}
}

// TestScopes checks that only existing scopes are accepted, and a kind only with run.
func TestScopes(t *testing.T) {
	for scope, good := range map[string]bool{
		"read": true, "submit": true, "run": true, "run:mail": true, "admin": true,
		"": false, "root": false, "run:": false, "submit:mail": false, "Read": false,
	} {
		if wrong := token.CheckScope(scope); (wrong == "") != good {
			t.Errorf("%q: %q", scope, wrong)
		}
	}
}

// TestFiles checks that ReadFile refuses a file that others can read, that does not exist, or that contains
// no token.
func TestFiles(t *testing.T) {
	text, _, _ := token.New()
	path := filepath.Join(t.TempDir(), "token")
	write := func(text string, mode os.FileMode) {
		os.Remove(path)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	write(text+"\n", 0o600)
	if got, err := token.ReadFile(path); err != nil || got != text {
		t.Errorf("read %q, %v", got, err)
	}
	for _, c := range []struct {
		text string
		mode os.FileMode
		want string
	}{{text, 0o640, "other users can read"}, {text, 0o604, "other users can read"}, {"hello", 0o600, "not a token"}} {
		write(c.text, c.mode)
		if _, err := token.ReadFile(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q with mode %o: %v", c.text, c.mode, err)
		}
	}
	if _, err := token.ReadFile(filepath.Dir(path)); err == nil {
		t.Error("a directory is read")
	}
}
