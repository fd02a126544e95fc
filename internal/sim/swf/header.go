package swf

import (
	"strconv"
	"strings"
)

// Header holds the description of the machine in the comments of a trace.
type Header struct {
	Comments      []string // without the semicolon, in order; at most maxComments
	Procs         int      // MaxProcs, or MaxNodes if MaxProcs is missing; 0: neither
	UnixStartTime int64    // of second 0; 0: unknown
	maxProcs      bool
}

// maxComments bounds the comments that are kept. All are read.
const maxComments = 1000

// comment reads a comment line. If a key appears several times, its last line counts, because people who edit
// a log add lines below.
func (h *Header) comment(text string) {
	text = strings.TrimSpace(strings.TrimLeft(text, ";"))
	if len(h.Comments) < maxComments {
		h.Comments = append(h.Comments, text)
	}
	key, value, ok := strings.Cut(text, ":")
	if !ok {
		return
	}
	value, _, _ = strings.Cut(strings.TrimSpace(value), " ")
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return
	}
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "maxprocs":
		if n > 0 && n <= maxCount {
			h.Procs, h.maxProcs = int(n), true
		}
	case "maxnodes":
		if n > 0 && n <= maxCount && !h.maxProcs {
			h.Procs = int(n)
		}
	case "unixstarttime":
		if n <= maxSeconds {
			h.UnixStartTime = n
		}
	}
}
