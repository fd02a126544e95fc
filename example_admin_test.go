package fairlead_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/memory"
)

// admin is the page of a service on its background jobs: who gets what, why a job waits, and
// what happens.
func admin(app *fairlead.App) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /shares", func(w http.ResponseWriter, r *http.Request) {
		for _, p := range app.Shares(r.Context()) {
			if p.Depth > 0 { // 0 is the root, which is all of them together
				fmt.Fprintf(w, "%s is entitled to %.0f%%: %d run, %d wait\n", p.Path, 100*p.Share, p.Tasks, p.Waiting)
			}
		}
	})
	mux.HandleFunc("GET /jobs/{id}/why", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			http.Error(w, "jobs have numbers", http.StatusBadRequest)
			return
		}
		answer, err := app.Why(r.Context(), id)
		switch {
		case errors.Is(err, fairlead.ErrNotFound):
			http.Error(w, "there is no such job", http.StatusNotFound)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			fmt.Fprint(w, answer.Text()) // or its fields, or all of it as JSON
		}
	})
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		watch := app.Watch()
		defer watch.Close()
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush() // from now on nothing is missed
		for {
			select {
			case <-r.Context().Done():
				return
			case e := <-watch.C:
				fmt.Fprintf(w, "data: job %d of %s: %s\n\n", e.Job, e.User, e.Code)
				http.NewResponseController(w).Flush()
			}
		}
	})
	return mux
}

// A page on the background jobs of a service, for those who run it.
func Example_admin() {
	ctx, stop := context.WithCancel(context.Background())
	app, err := fairlead.New(ctx, memory.New("cpu"), fairlead.Options{Slots: 1})
	if err != nil {
		log.Fatal(err)
	}
	begun, goOn := make(chan bool), make(chan bool)
	fairlead.Handle(app, func(ctx context.Context, w *fairlead.Work[Thumbnail]) error {
		begun <- true
		<-goOn
		return nil
	})
	ended := make(chan error)
	go func() { ended <- app.Run(ctx) }()
	page := httptest.NewServer(admin(app))
	defer page.Close()
	get := func(path string) *http.Response {
		answer, err := http.Get(page.URL + path)
		if err != nil {
			log.Fatal(err)
		}
		return answer
	}
	events := get("/events")
	defer events.Body.Close()

	// Acme floods the service, and Bolt asks for one.
	thumbnail := fairlead.Job{User: "acme", Args: Thumbnail{"cat.jpg", 64}}
	app.Submit(ctx, thumbnail)
	<-begun
	app.Submit(ctx, thumbnail, thumbnail, thumbnail)
	app.Submit(ctx, fairlead.Job{User: "bolt", Args: Thumbnail{"logo.png", 64}})

	text, _ := io.ReadAll(get("/shares").Body)
	fmt.Print(string(text))
	text, _ = io.ReadAll(get("/jobs/3/why").Body)
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "You are number") {
			fmt.Println(strings.TrimSpace(line))
		}
	}
	fmt.Println(get("/jobs/99/why").Status)

	close(goOn)
	for range 4 { // the others, in their turn
		<-begun
	}
	stop()
	fmt.Println("ended:", <-ended)
	said := make([]byte, 1000)
	n, _ := io.ReadAtLeast(events.Body, said, 100)
	first, _, _ := strings.Cut(string(said[:n]), "\n")
	fmt.Println(first)
	// Output:
	// acme is entitled to 50%: 1 run, 3 wait
	// bolt is entitled to 50%: 0 run, 1 wait
	// You are number 3 of 4 tasks that could start. Ahead: 2 jobs of 2 pools, 2 cpu.
	// 404 Not Found
	// ended: <nil>
	// data: job 1 of acme: waiting
}
