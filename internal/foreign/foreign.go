package foreign

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Detect returns the kind of a source, judged by its text.
func Detect(text []byte) string {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimLeftFunc(text, unicode.IsSpace), []byte("<")) {
		return Hadoop
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if _, _, ok := splitTitle(string(line)); ok {
			return Slurm
		}
		break
	}
	return Fairlead
}

// Read converts a source to a configuration. The argument "name" is the file of the source.
func Read(name, from string, text []byte, can Features) (*Result, error) {
	if len(text) > MaxSize {
		return nil, &Error{Msg: fmt.Sprintf("the file is larger than %d MiB", MaxSize>>20)}
	}
	clean := strings.TrimPrefix(string(text), "\ufeff")
	if i := invalid(clean); i >= 0 {
		return nil, &Error{Line: 1 + strings.Count(clean[:i], "\n"),
			Msg: "the file is not UTF-8 from here on; convert it first, e.g. with iconv -t UTF-8"}
	}
	switch from {
	case Hadoop:
		return readHadoop(name, clean, can)
	case Slurm:
		return readSlurm(name, clean, can)
	}
	return nil, &Error{Msg: fmt.Sprintf("%q is not a format; known: %s, %s", from, Hadoop, Slurm)}
}

// invalid returns the offset at which a text stops being UTF-8, or -1.
func invalid(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}

// MaxSize is the largest size of a source, in bytes. The dump of a large site has a line for each user.
const MaxSize = 4 << 20
