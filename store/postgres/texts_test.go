package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/store/postgres"
)

// TestTextsOfHandlers: a handler may fail with any text, even one that PostgreSQL cannot store. Its task has failed
// then, with the part of the text that can be stored, and its slot is free.
func TestTextsOfHandlers(t *testing.T) {
	t.Parallel()
	url, schema := pgtest.URL(t)
	store := at(t, url, postgres.Options{Schema: schema})
	defer store.Close()
	app, err := fairlead.New(t.Context(), store, fairlead.Options{Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{
		"page\x00of pdf": "page?of pdf", "\xff\xfe": "?", "panic \x00": "panic: panic ?\n",
		strings.Repeat("ä\x00", 50_000): "ä?ä?ä?", "": "",
	}
	app.Handle("fails", fairlead.HandlerFunc(func(_ context.Context, l *fairlead.Lease) error {
		text := string(l.Job.Payload)
		if strings.HasPrefix(text, "panic") {
			panic(text)
		}
		return errors.New(text)
	}))
	if err := app.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for text, want := range texts {
		ids, err := app.Submit(t.Context(), fairlead.Job{User: "ann", Kind: "fails", Payload: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		var tasks []fairlead.Task
		await.Until(t, "it has failed", func() (any, bool) {
			tasks, err = app.Client().Tasks(t.Context(), ids[0])
			return tasks, err == nil && len(tasks) == 1 && tasks[0].State == fairlead.Failed
		})
		if got := tasks[0].Outcome.Cause; !strings.HasPrefix(got, want) || len(got) > 16<<10 || want == "" && got != "" {
			t.Errorf("%.20q: the cause is %.40q (%d bytes), want %q", text, got, len(got), want)
		}
	}
	if err := app.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}
