package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
)

// The text of an error is limited: it may quote the request, which may be megabytes.
const (
	maxDetail = 16 << 10 // bytes; the error of a configuration quotes lines of it
	maxErrors = 50
	maxQuoted = 200 // bytes
)

// clip shortens a text that is longer than limit bytes.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// brieflyOf returns a detail with its long parts shortened.
func brieflyOf(d *huma.ErrorDetail) *huma.ErrorDetail {
	out := &huma.ErrorDetail{Message: clip(d.Message, maxQuoted), Location: clip(d.Location, maxQuoted), Value: d.Value}
	if text, err := json.Marshal(d.Value); err != nil || len(text) > maxQuoted {
		out.Value = clip(string(text), maxQuoted)
	}
	return out
}

// problem returns an error with the status and the code of the table.
func problem(err error) error {
	e := api.FromError(err)
	return &statusError{status: api.Status(err), Title: http.StatusText(api.Status(err)), Code: e.Code, Detail: clip(e.Detail, maxDetail)}
}

// Errors of the framework (a wrong type, an unknown field, a body that is too large) get our format.
func init() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		e := &statusError{status: status, Title: http.StatusText(status), Code: "invalid", Detail: msg}
		switch status {
		case http.StatusNotFound:
			e.Code = "not_found"
		case http.StatusTooManyRequests: // the request itself is valid
			e.Code = api.CodeBusy
		}
		for _, err := range errs {
			var detail *huma.ErrorDetail
			if errors.As(err, &detail) {
				if len(e.Errors) < maxErrors {
					e.Errors = append(e.Errors, brieflyOf(detail))
				}
			} else if err != nil {
				e.Detail += ": " + err.Error()
			}
		}
		e.Detail = clip(e.Detail, maxDetail)
		return e
	}
}

// statusError is a problem document (RFC 9457) with our code.
type statusError struct {
	status int
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
	// Errors lists the faulty places of the request.
	Errors []*huma.ErrorDetail `json:"errors,omitempty"`
}

func (e *statusError) Error() string { return e.Detail }

// GetStatus implements huma.StatusError.
func (e *statusError) GetStatus() int { e.Status = e.status; return e.status }

// ContentType implements huma.ContentTypeFilter.
func (e *statusError) ContentType(string) string { return "application/problem+json" }
