package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
)

// TestLargeArray checks that the size of the page of a job does not grow with the number of its tasks, that
// all tasks and events are found page by page, and that tasks are found by their state.
func TestLargeArray(t *testing.T) {
	if testing.Short() {
		t.Skip("much work, and nothing at once")
	}
	l := newLab(t, cluster)
	size := func(tasks int) (path string, bytes int) {
		t.Helper()
		ids, err := l.loop.Client().Submit(t.Context(),
			queue.Job{User: "ann", Pool: "physics/curie", Kind: "quick", Array: fmt.Sprintf("0-%d", tasks-1)})
		if err != nil {
			t.Fatal(err)
		}
		l.until(ids[0], "failed")
		path = fmt.Sprint("/jobs/", ids[0])
		_, _, text := l.get(path)
		return path, len(text)
	}
	ctx, stop := context.WithCancel(l.ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- l.loop.Work(ctx, engine.WorkOptions{Name: "w1", Slots: 50,
			Handlers: map[string]engine.Handler{"quick": engine.HandlerFunc(func(_ context.Context, x *queue.Lease) error {
				if x.Task == 7 {
					return fmt.Errorf("it is the seventh")
				}
				return nil
			})}})
	}()
	defer func() { stop(); <-ended }()
	_, small := size(100)
	path, large := size(2000)
	if large > small+small/5 {
		t.Errorf("the page of 100 tasks has %d bytes, that of 2000 %d", small, large)
	}
	_, _, text := l.get(path)
	shows(t, text, "succeeded 1,999", "failed 1", "1 to 40 of 2,000 tasks", "of 4,002 events")
	_, _, text = l.get(path + "?tasks=failed")
	shows(t, text, "it is the seventh", `data-key="t-7"`)
	if strings.Count(text, `data-key="t-`) != 1 {
		t.Error("other tasks are shown than the one that failed")
	}
	_, _, text = l.get(path + "?from=1961&events=1")
	shows(t, text, `data-key="t-1999"`, "<b>submitted</b>")
}
