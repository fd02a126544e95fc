package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// busyFor is how long a client should wait after a refusal with [CodeBusy].
const busyFor = 30 * time.Second

// WriteProblem answers with an error in the format of all operations (RFC 9457).
func WriteProblem(w http.ResponseWriter, status int, e *Error) {
	text, err := json.Marshal(struct {
		Title  string `json:"title"`
		Status int    `json:"status"`
		*Error
	}{http.StatusText(status), status, e})
	if err != nil {
		panic(err) // cannot happen: it holds strings only
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
}

// WriteBusy refuses a stream because there are too many.
func WriteBusy(w http.ResponseWriter, detail string) {
	w.Header().Set("Retry-After", strconv.Itoa(int(busyFor.Seconds())))
	WriteProblem(w, http.StatusServiceUnavailable, &Error{Code: CodeBusy, Detail: detail})
}
