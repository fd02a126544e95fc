package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// TestRequestsAreBounded: a request that would be large when decoded is refused before it is decoded, with little
// memory, and the refusal names the exceeded bound. The test uses a process of its own, because it measures the memory
// of the whole process.
func TestRequestsAreBounded(t *testing.T) {
	const alone = "FAIRLEAD_TEST_SHAPES"
	if os.Getenv(alone) != "" {
		tryBounds(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRequestsAreBounded$", "-test.v")
	cmd.Env = append(os.Environ(), alone+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestRequestsAreBounded") {
		t.Errorf("%v\n%s", err, out)
	}
}

// tryBounds sends requests that exceed each bound.
func tryBounds(t *testing.T) {
	d := newDesk(t)
	fields := make([]string, 0, 1_000_000)
	for i := range cap(fields) {
		fields = append(fields, `"`+strings.Repeat("x", 1+i%7)+`":0`)
	}
	argv := `{"argv":["` + strings.Join(strings.Split("abcdefghijklmnopqrstuvwxyz", ""), `","`) + `"]},`
	after := `{"after":[` + strings.Repeat("{},", 9_000) + `{}]},`
	for name, c := range map[string]struct {
		path, body string
		status     int
		want       string
	}{
		"12 MB of jobs":    {"/v1/jobs", `{"jobs":[` + strings.Repeat("{},", 4_000_000) + `{}]}`, 413, "a list with more than 10000 items; send it in several parts"},
		"a million fields": {"/v1/jobs", `{"jobs":[{` + strings.Join(fields, ",") + `}]}`, 422, "an object with more than 2000 fields"},
		"nested":           {"/v1/jobs", `{"jobs":[{"args":` + strings.Repeat("[", 1_000_000), 422, "lists and objects more than 100 levels deep"},
		"many lists":       {"/v1/jobs", `{"jobs":[` + strings.Repeat(argv, 9_000) + strings.Repeat(after, 30) + `{}]}`, 413, "more than 500000 values"},
		"ids":              {"/v1/jobs/alter", `{"verb":"hold","jobs":[` + strings.Repeat("1,", 200_000) + `1]}`, 413, "more than 100000 items"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status, text := d.raw(http.MethodPost, c.path, c.body, "Content-Type", "application/json")
		runtime.ReadMemStats(&after)
		if status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: status %d: %.300s", name, status, text)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%s: took %d MB", name, took>>20)
		}
	}
}

// TestHugeRequest: a request above the maximum size is refused. The test calls the handler directly, because a busy
// machine may need more time to send the request than a request may take to arrive.
func TestHugeRequest(t *testing.T) {
	d := newDesk(t)
	body := `{"jobs":[{"name":"` + strings.Repeat("x", 17<<20) + `"}]}`
	status, text := d.raw(http.MethodPost, "/v1/jobs", body, "Content-Type", "application/json")
	if status != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d: %.200s", status, text)
	}
}

// TestBoundsOfTexts: brackets and commas in texts count as texts.
func TestBoundsOfTexts(t *testing.T) {
	d := newDesk(t)
	body := `{"jobs":[{"argv":["` + strings.Repeat(`[{,\"`, 20_000) + `"]}]}`
	if status, text := d.raw(http.MethodPost, "/v1/jobs", body, "Content-Type", "application/json"); status != http.StatusOK {
		t.Errorf("status %d: %.300s", status, text)
	}
}

// TestLargeRequestsOfOneUser: large requests of one user are decoded two at a time, while requests of others are
// served.
func TestLargeRequestsOfOneUser(t *testing.T) {
	d := newDesk(t)
	body := `{"jobs":[{"argv":["` + strings.Repeat("x", 2<<20) + `"]}]}`
	for range 2 {
		if err := d.large.Take(ann.UID, false); err != nil {
			t.Fatal(err)
		}
	}
	send := func(a access.Principal) int { return d.send(a, http.MethodPost, "/v1/jobs", rawBody(body), nil) }
	w := d.answerOf(ann, http.MethodPost, "/v1/jobs", rawBody(body))
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("a third one: status %d, %v", w.Code, w.Header())
	}
	var told api.Error
	if err := json.Unmarshal(w.Body.Bytes(), &told); err != nil || told.Code != api.CodeBusy || !errors.Is(told.Err(), queue.ErrBusy) || api.Exit(told.Err()) != api.ExitUnreachable {
		t.Errorf("a third one is told %s, exit status %d", w.Body, api.Exit(told.Err()))
	}
	bob := access.Principal{Kind: access.User, Name: "bob", UID: ann.UID + 1}
	if status := send(bob); status == http.StatusTooManyRequests {
		t.Error("another user has to wait")
	}
	d.large.Give(ann.UID)
	if status := send(ann); status == http.StatusTooManyRequests || d.large.Held() != 1 {
		t.Errorf("when one has ended: status %d, %d are held", status, d.large.Held())
	}
}

// rawBody is JSON that is sent unchanged.
type rawBody string

// MarshalJSON implements json.Marshaler.
func (r rawBody) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// TestNumbersAreFinite: NaN and infinity are refused wherever the interface takes a number.
func TestNumbersAreFinite(t *testing.T) {
	d := newDesk(t)
	tried := 0
	for path, item := range d.api(http.NewServeMux()).OpenAPI().Paths {
		if item.Get == nil {
			continue
		}
		for _, p := range item.Get.Parameters {
			if p.In != "query" || p.Schema.Type != "number" {
				continue
			}
			for _, text := range []string{"NaN", "nan", "Inf", "-inf", "%2BInf"} {
				tried++
				target := strings.NewReplacer("{id}", "1", "{number}", "1").Replace(path) + "?" + p.Name + "=" + text
				if status, answer := d.raw(http.MethodGet, target, ""); status != http.StatusUnprocessableEntity || !strings.Contains(answer, "is not a number") {
					t.Errorf("%s: status %d: %.200s", target, status, answer)
				}
			}
		}
	}
	if tried < 10 {
		t.Errorf("only %d were tried", tried)
	}
}
