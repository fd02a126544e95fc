package share

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// Names of users, groups and kinds come from other systems and may contain any bytes; names of pools may not.
// Different texts must become different names, or two customers would share a pool unknowingly. So a byte that a
// name may not contain is written as = and two hexadecimal digits, as in a=20b for "a b"; the = itself is escaped
// as well. All other bytes stay unchanged.

// nobody is the segment for the empty text. The text "_" itself is escaped.
const nobody = "_"

// A text that is too long is cut and followed by == and a hash of the whole text; no escape begins with ==.
const (
	hashMark  = "=="
	hashBytes = 16
)

// CleanName converts any text, such as the name of a foreign queue or group, to a path segment. Different texts
// become different segments, and a text always becomes the same one.
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

// escape writes each byte as = and two hexadecimal digits.
func escape(part string) string {
	var b strings.Builder
	for i := range len(part) {
		b.WriteByte('=')
		b.WriteByte(digits[part[i]>>4])
		b.WriteByte(digits[part[i]&15])
	}
	return b.String()
}

// shorten cuts a segment that is too long and appends a hash of the text. It cuts neither within a rune nor within
// an escape, so that the result stays readable.
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

// UserPool is the name of a personal pool. Jobs without a user go to [DefaultPool], which takes jobs of all users;
// a user of that name gets an escaped name.
func UserPool(user string) string {
	if user == "" {
		return DefaultPool
	}
	return userName(user)
}

// userName is the segment that a template inserts for a user.
func userName(user string) string {
	if user == DefaultPool {
		return escape(user[:1]) + user[1:]
	}
	return CleanName(user)
}

// UserOf returns the user whose pool has the given name. The second result is false if the name does not determine
// a user. Then a long name was cut, or the pool is not personal and no user's pool has such a name.
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

// UnderscoreName is the segment that earlier versions made of a text: they replaced forbidden characters by
// underscores, so that several texts became the same segment. Stores that they wrote contain such names.
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

// Renamed returns the present path of a user's jobs in a pool that an earlier version named after the user. It
// returns false if the path has no such name, or if the name is unchanged. Templates may add segments above and
// below it.
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

// DefaultPool takes the jobs that match no placement rule.
const DefaultPool = "default"
