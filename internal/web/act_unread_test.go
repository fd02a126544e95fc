package web_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/web"
	"github.com/fairlead/fairlead/queue"
)

// unreadable is a list of one job that cannot be read after it was changed.
type unreadable struct {
	web.JobSource
	changed bool
}

func (u *unreadable) List(context.Context, queue.Query, web.JobOptions) (*api.JobList, error) {
	if u.changed {
		return nil, errors.New("the database is away")
	}
	return &api.JobList{Jobs: []api.Job{{ID: 7, User: "ann", State: string(queue.Running), Running: 1}}}, nil
}

func (u *unreadable) Alter(context.Context, api.AlterRequest) (*api.AlterResponse, error) {
	u.changed = true
	return &api.AlterResponse{Results: []*api.Error{nil}}, nil
}

// TestUnreadAfterAChange: if the jobs cannot be read after a change, the page says that the change was made, and the
// error.
func TestUnreadAfterAChange(t *testing.T) {
	for _, form := range []url.Values{
		{"verb": {"cancel"}, "job": {"7"}},
		{"verb": {"limit"}, "job": {"7"}, "limit": {"60"}},
	} {
		s := (&stranger{}).source()
		s.Jobs = &unreadable{}
		mux := http.NewServeMux()
		web.New(s, "test", slog.New(slog.DiscardHandler)).Register(mux)
		r := httptest.NewRequest("POST", "/act", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%v: %d", form, w.Code)
		}
		shows(t, w.Body.String(), ": done", "The change was made, but the server could not read the jobs afterwards",
			"the database is away")
	}
}
