package server

import (
	"errors"
	"net/http"
	"time"
)

// writeTime is how long a client may take to read a part of an answer. The whole answer has no limit: a long poll
// waits, a stream goes on, and a large list takes as long as the connection needs. But the server drops a client that
// reads nothing.
const (
	writeTime = 30 * time.Second
	writePart = 64 << 10
)

func record(w http.ResponseWriter) *recorder {
	r := &recorder{ResponseWriter: w, to: http.NewResponseController(w), status: http.StatusOK}
	r.extend()
	return r
}

// extend sets the deadline of the next write. A writer without deadlines, such as the recorder of a test, needs none.
func (r *recorder) extend() {
	if !r.own {
		_ = r.to.SetWriteDeadline(time.Now().Add(writeTime))
	}
}

// Write sends a part of the answer in pieces, each with its own deadline.
func (r *recorder) Write(p []byte) (n int, err error) {
	for len(p) > writePart && err == nil {
		var k int
		r.extend()
		k, err = r.ResponseWriter.Write(p[:writePart])
		n, p = n+k, p[k:]
	}
	if err != nil {
		return n, err
	}
	r.extend()
	k, err := r.ResponseWriter.Write(p)
	return n + k, err
}

// SetWriteDeadline lets a handler set its own deadlines, as those of streams do.
func (r *recorder) SetWriteDeadline(t time.Time) error {
	r.own = true
	if err := r.to.SetWriteDeadline(t); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// recorder records the status of an answer, and sets a deadline for each part of it.
type recorder struct {
	http.ResponseWriter
	to     *http.ResponseController
	status int
	own    bool // the handler sets the deadlines itself
}
