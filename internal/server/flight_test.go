package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/internal/access"
)

// silent is a body that stops in the middle, until it is aborted.
type silent struct {
	io.Reader
	stopped func()
	goesOn  chan struct{}
}

// Read returns the text, and then waits.
func (s *silent) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF {
		s.stopped()
		<-s.goesOn
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// TestBytesInFlight: a user begins requests on many connections, each below the size of a large request, and sends no
// more. The server holds 32 MiB for that user, not as much as the connections carry. Meanwhile it serves other users
// and agents.
func TestBytesInFlight(t *testing.T) {
	d := newDesk(t)
	most, size, tries := d.flight.User*flightPart, largeBody-1, 100
	goesOn := make(chan struct{})
	var ended sync.WaitGroup
	var mu sync.Mutex
	status := map[int]int{}
	// send returns when the request is silent or refused: more requests are refused if they grow at the same time.
	send := func(p access.Principal) {
		begun := make(chan struct{})
		done := sync.OnceFunc(func() { close(begun) })
		ended.Go(func() {
			defer done()
			text := `{"jobs":[{"name":"` + strings.Repeat("x", size-17)
			r := httptest.NewRequest(http.MethodPost, "http://fairlead/v1/jobs", &silent{strings.NewReader(text), done, goesOn})
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			d.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, p)))
			mu.Lock()
			defer mu.Unlock()
			status[w.Code]++
		})
		<-begun
	}
	for range tries {
		send(ann)
	}
	if held := d.flight.Held() * flightPart; held > most || held < most-2*size {
		t.Errorf("%d MiB are held of one user, %d MiB may be", held>>20, most>>20)
	}
	mu.Lock()
	least := tries - most/(size-flightPart) - 1
	if refused := status[http.StatusTooManyRequests]; refused < least || refused > tries-most/size {
		t.Errorf("of %d requests %d are refused: %v", tries, refused, status)
	}
	before := fmt.Sprint(status)
	mu.Unlock()
	bob := access.Principal{Kind: access.User, Name: "bob", UID: ann.UID + 1}
	send(bob)
	send(access.Principal{Kind: access.User, Name: "root", UID: 0, Admin: true})
	mu.Lock()
	if now := fmt.Sprint(status); now != before {
		t.Errorf("others are refused: %s, before: %s", now, before)
	}
	mu.Unlock()
	close(goesOn)
	ended.Wait()
	if d.flight.Held() != 0 {
		t.Errorf("%d parts are held when all has ended", d.flight.Held())
	}
}

// TestFormsInFlight: forms that a browser posts count as well, and the page says why a form is refused.
func TestFormsInFlight(t *testing.T) {
	d := newDesk(t)
	for d.flight.Take(ann.UID, false) == nil {
	}
	form := url.Values{"verb": {"hold"}, "why": {strings.Repeat("x", 2*flightPart)}}
	if status, text := d.look(ann, "/act", form); status != http.StatusTooManyRequests ||
		!strings.Contains(text, "too many large requests at once") {
		t.Errorf("status %d: %.300s", status, text)
	}
	if status, _ := d.look(ann, "/act", url.Values{"verb": {"hold"}}); status == http.StatusTooManyRequests {
		t.Error("a small one is refused as well")
	}
}
