package plain

import (
	"cmp"
	"io"
	"sync"
	"unicode/utf8"
)

// Writer passes text on without terminal control characters; line ends and tabs stay. All output of commands
// goes through a Writer, so that a text that nobody made harmless does no damage.
type Writer struct {
	to   io.Writer
	mu   sync.Mutex
	part []byte // of a character that is still incomplete
	err  error  // the first one
}

// NewWriter returns a writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Raw returns the writer behind w, if w is a Writer. It is for drawings, and for documents that must stay
// unchanged.
func Raw(w io.Writer) io.Writer {
	if p, ok := w.(*Writer); ok {
		return p.to
	}
	return w
}

// Write passes p on.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.part, p...)
	whole := len(text) - unfinished(text)
	w.part = append([]byte(nil), text[whole:]...)
	if _, err := w.to.Write(kept(text[:whole])); err != nil {
		w.err = cmp.Or(w.err, err)
		return 0, err
	}
	return len(p), nil
}

// Err returns the first error of a write, such as a full disk. Callers that print line by line may ask once
// at the end.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// unfinished returns the number of bytes at the end of a text that begin a character without ending it.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if b := text[len(text)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// kept returns a text without terminal control characters; mostly it is the same text.
func kept(text []byte) []byte {
	var out []byte
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if bad := obeyed(r) && r != '\n' && r != '\t'; bad || r == utf8.RuneError && size == 1 {
			if out == nil {
				out = append(make([]byte, 0, len(text)), text[:i]...)
			}
			out = append(out, '?')
		} else if out != nil {
			out = append(out, text[i:i+size]...)
		}
		i += size
	}
	if out == nil {
		return text
	}
	return out
}
