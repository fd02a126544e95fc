package swf

import (
	"strconv"
	"strings"
)

// Header is what the comments of a trace say of its machine.
type Header struct {
	Comments      []string // without the semicolon, in order; no more than maxComments
	Procs         int      // MaxProcs, or MaxNodes where that is missing; 0: neither
	UnixStartTime int64    // of second 0; 0: not known
	maxProcs      bool
}

// maxComments bounds the comments that are kept. All are read.
const maxComments = 1000

// comment takes in a comment line. Where a key comes again, its last line counts, since
// whoever edits a log adds a line below.
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
