//go:build real

package rabbitmq_test

import (
	"os"
	"os/user"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/rabbitmq"
	"github.com/fairlead/fairlead/internal/bridge/worktest"
	"github.com/fairlead/fairlead/internal/brokertest"
)

// TestRealRights checks that the rights that the how-to gives to bridge and worker are enough, and that a
// worker with its rights cannot submit.
func TestRealRights(t *testing.T) {
	server := brokertest.SharedRabbitMQ(t)
	page, err := os.ReadFile("../../../docs/how-to/put-it-in-front-of-rabbitmq.md")
	if err != nil {
		t.Fatal(err)
	}
	given := 0
	for _, m := range regexp.MustCompile(
		`(?m)^rabbitmqctl (set_permissions) (-p) (/) (\w+) '(.*)' '(.*)' '(.*)'$`).FindAllStringSubmatch(string(page), -1) {
		server.Control(t, "add_user", m[4], "secret")
		server.Control(t, m[1:]...)
		given++
	}
	if given != 2 {
		t.Fatalf("the page gives rights to %d users, want 2", given)
	}
	as := func(who string) rabbitmq.Options {
		return rabbitmq.Options{
			URL: strings.Replace(server.URL, "guest:guest", who+":secret", 1), Queue: "fairlead", Logger: worktest.Logger(t),
		}
	}
	q := rabbitmq.Open(as("bridge"))
	defer q.Close()
	work(t, as("worker"), 1)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s := worktest.Job(1)
	s.Job.User = me.Username
	if r, err := q.Submit(t.Context(), []bridge.Submission{s}); err != nil || r[0].Err != nil {
		t.Fatal(r, err)
	}
	worktest.Await(t, q, worktest.Entry(1), bridge.Succeeded)
	if err := q.Forget(t.Context(), []bridge.Entry{worktest.Entry(1)}); err != nil {
		t.Fatal(err)
	}
	bad := rabbitmq.Open(as("worker"))
	defer bad.Close()
	_, checked := bad.Describe(t.Context())
	_, looked := bad.Look(t.Context(), nil)
	for _, err := range []error{checked, looked} {
		if err == nil || !strings.Contains(err.Error(), "let the user worker do that with rabbitmqctl set_permissions") {
			t.Errorf("a worker may be a bridge: %v", err)
		}
	}
}
