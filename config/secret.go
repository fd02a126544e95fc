package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// HideFile returns the text of a file, even an invalid one, without passwords, so that it may be stored.
func HideFile(text string) string {
	hidden := Hide(text)
	root, problem := readYAML(hidden)
	switch {
	case problem != nil:
		return wholeValue.ReplaceAllString(hidden, "${1} "+Hidden)
	case exposed(root):
		return "# the server did not keep this text: it holds a password that cannot be hidden\n"
	}
	return hidden
}

// wholeValue matches a database address with a URL or a password on the line of its name.
var wholeValue = regexp.MustCompile(`(?m)(\bdatabase\b["']?\s*:)[^\n]*(://|password)[^\n]*$`)

// exposed reports whether the database of a file shows a password.
func exposed(root *node) bool {
	n := root.get("server").get("database")
	if n == nil || n.kind != scalar {
		return false
	}
	if Hide(n.text) != n.text {
		return true
	}
	u, err := url.Parse(n.text)
	if err != nil {
		return strings.Contains(n.text, "@")
	}
	password, _ := u.User.Password()
	secrets := []string{password}
	for name, values := range u.Query() {
		if strings.HasSuffix(strings.ToLower(name), "password") {
			secrets = append(secrets, values...)
		}
	}
	return slices.ContainsFunc(secrets, func(s string) bool { return s != "" && s != Hidden })
}

// checkSecrets refuses a file with a password that [Hide] cannot hide. The problem has no place, because its line must
// not be shown.
func checkSecrets(text string, root *node) *Problem {
	if !exposed(root) {
		return nil
	}
	if hidden, problem := readYAML(Hide(text)); problem == nil && !exposed(hidden) {
		return nil
	}
	return &Problem{Msg: "server.database has a password in a form that cannot be hidden from other users: write the address as postgres://USER:PASSWORD@HOST/DATABASE on one line, with %XX for special characters, or give the password in PGPASSFILE"}
}

// hideValues hides the passwords in a tree of nodes.
func hideValues(root *node) {
	if n := root.get("server").get("database"); n != nil && n.kind == scalar {
		n.text = Hide(n.text)
	}
}

// secret is a text that is written without its passwords.
func secret(k kind[string]) kind[string] {
	show := k.show
	k.show = func(v string) *node { return show(Hide(v)) }
	return k
}

// errHidden says that a hidden password is unknown.
var errHidden = errors.New("is hidden, and the server's file no longer has it: write the password itself here, " +
	"or give it in PGPASSFILE")

// Restore puts the passwords that [Hide] removed from a text back into it. It takes them from the file. An address
// keeps the password of its user even if its host or parameters changed.
func Restore(text, file string) (string, error) {
	if !strings.Contains(text, Hidden) {
		return text, nil
	}
	known := secretsOf(file)
	var wrong error
	restored := words.ReplaceAllStringFunc(text, func(word string) string {
		if !isHidden(word) {
			return word
		}
		if whole, ok := known[word]; ok {
			return whole
		}
		if user := inURL.FindStringSubmatch(word); user != nil && user[2] == Hidden {
			if password, ok := known[user[1]]; ok {
				return strings.Replace(word, user[1]+Hidden, user[1]+password, 1)
			}
		}
		wrong = fmt.Errorf("the password in %s %w", clip(word), errHidden)
		return word
	})
	return restored, wrong
}

// isHidden reports whether [Hide] removed a password from a word. Asterisks alone do not prove it.
func isHidden(word string) bool {
	if x := inURL.FindStringSubmatch(word); x != nil && x[2] == Hidden {
		return true
	}
	x := inParameter.FindStringSubmatch(word)
	return x != nil && strings.TrimRight(x[2], "}],") == Hidden
}

var words = regexp.MustCompile(`\S+`)

// secretsOf maps the hidden form of each word with a password to the word, and each user in a URL to the password.
func secretsOf(file string) map[string]string {
	known := map[string]string{}
	for _, word := range words.FindAllString(file, -1) {
		if hidden := Hide(word); hidden != word {
			known[hidden] = word
		}
		if user := inURL.FindStringSubmatch(word); user != nil {
			known[user[1]] = user[2]
		}
	}
	return known
}
