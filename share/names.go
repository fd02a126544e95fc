package share

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// Names of users, groups and kinds come from elsewhere and may hold anything; the names of pools may
// not. Different texts have to become different names, or two customers share a pool without knowing
// it. So a byte that a name may not hold is written as = and its number in two hexadecimal digits, as
// in a=20b for "a b", and so is the = itself. What needs no escape stays as it is.

// nobody is the name that the empty text becomes, whose own is written with an escape.
const nobody = "_"

// A text that is too long becomes its beginning, == and a hash of it all: no escape begins like that.
const (
	hashMark  = "=="
	hashBytes = 16
)

// CleanName makes a segment of a path out of any text, e.g. the name of a queue or of a group from
// elsewhere. Different texts become different segments, and always the same ones.
func CleanName(text string) string {
	switch text {
	case "":
		return nobody
	case nobody, ".", "..":
		return escape(text[:1]) + text[1:]
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if part := text[i : i+size]; r == '=' || !nameRune(r) {
			b.WriteString(escape(part))
		} else {
			b.WriteString(part)
		}
		i += size
	}
	if b.Len() > MaxSegment {
		return shorten(b.String(), text)
	}
	return b.String()
}

const digits = "0123456789ABCDEF"

// escape writes each byte as = and its number.
func escape(part string) string {
	var b strings.Builder
	for i := range len(part) {
		b.WriteByte('=')
		b.WriteByte(digits[part[i]>>4])
		b.WriteByte(digits[part[i]&15])
	}
	return b.String()
}

// shorten is a name for a text whose own would be too long. It ends neither within a rune nor within an
// escape, so that people can read it.
func shorten(name, text string) string {
	sum := sha256.Sum256([]byte(text))
	end := MaxSegment - len(hashMark) - 2*hashBytes
	for !utf8.RuneStart(name[end]) {
		end--
	}
	if i := strings.LastIndexByte(name[:end], '='); i >= 0 && i > end-3 {
		end = i
	}
	return name[:end] + hashMark + hex.EncodeToString(sum[:hashBytes])
}

// UserPool is the name of the personal pool of a user. Jobs of nobody go to [DefaultPool], into which
// jobs of all users may come; a user who is called like it has another one.
func UserPool(user string) string {
	if user == "" {
		return DefaultPool
	}
	return userName(user)
}

// userName is what stands for a user in a template.
func userName(user string) string {
	if user == DefaultPool {
		return escape(user[:1]) + user[1:]
	}
	return CleanName(user)
}

// UserOf is the user whose pool has a name, as far as the name tells: the name of anybody's own may have
// been too long for it, and other pools than those of users may have names that no user's has.
func UserOf(name string) (user string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '=' {
			b.WriteByte(name[i])
			continue
		}
		var one [1]byte
		if i+3 > len(name) {
			return "", false
		}
		if _, err := hex.Decode(one[:], []byte(name[i+1:i+3])); err != nil {
			return "", false
		}
		b.Write(one[:])
		i += 2
	}
	user = b.String()
	return user, userName(user) == name
}

// UnderscoreName is the segment that earlier versions made out of a text: what a name may not hold
// became an underscore, so that several texts became the same. Stores that they wrote have such names.
func UnderscoreName(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !nameRune(r) {
			return '_'
		}
		return r
	}, text)
	for len(clean) > MaxSegment {
		_, size := utf8.DecodeLastRuneInString(clean)
		clean = clean[:len(clean)-size]
	}
	if clean == "" || clean == "." || clean == ".." {
		return nobody
	}
	return clean
}

// Renamed is where jobs of a user belong that are in a pool whose name an earlier version made of the
// user's; false if it is none, or if it has the same name still. A template may have put something
// below it, or above it.
func Renamed(path, user string) (string, bool) {
	if user == "" {
		return path, false
	}
	was, is := UnderscoreName(user), userName(user)
	if was == is {
		return path, false
	}
	segments := strings.Split(path, "/")
	for i := len(segments) - 1; i >= 0; i-- {
		if segments[i] == was {
			segments[i] = is
			return strings.Join(segments, "/"), true
		}
	}
	return path, false
}

// DefaultPool takes the jobs that no placement rule matches.
const DefaultPool = "default"
