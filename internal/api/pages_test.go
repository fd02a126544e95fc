package api_test

import (
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

// TestPagesAreJoined: a client that asks for a whole job gets the parts that the server returns in several pages.
func TestPagesAreJoined(t *testing.T) {
	const all = 3
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after, err := strconv.Atoi(r.URL.Query().Get("after"))
		if err != nil {
			t.Error(err)
		}
		if strings.HasSuffix(r.URL.Path, "/history") { // return one event at a time
			json.NewEncoder(w).Encode(api.History{Job: 7, Events: []api.Event{{Task: after}}, More: after+1 < all})
			return
		}
		json.NewEncoder(w).Encode(api.JobResponse{Job: api.Job{ID: 7}, Tasks: []api.Task{{Task: after + 1}}, More: after+2 < all})
	})}
	go s.Serve(l)
	defer s.Close()
	c, err := api.Dial(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	j, err := c.Jobs.Get(t.Context(), 7)
	if err != nil || len(j.Tasks) != all || j.More || j.Tasks[2].Task != 2 {
		t.Errorf("the job: %+v, %v", j, err)
	}
	h, err := c.Jobs.History(t.Context(), 7, -1)
	if err != nil || len(h.Events) != all || h.More || h.Events[2].Task != 2 {
		t.Errorf("what happened: %+v, %v", h, err)
	}
}
