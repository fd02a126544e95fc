package environ_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/environ"
)

// TestEnvironment combines the variables of a user and of a task.
func TestEnvironment(t *testing.T) {
	env := environ.User("ann", "/home/ann")
	task := environ.Task{Job: 17, Number: 3, Attempt: 2, Name: "render", Pool: "film"}
	maps.Copy(env, task.Variables())
	want := "FAIRLEAD_ATTEMPT=2 FAIRLEAD_JOB=17 FAIRLEAD_NAME=render FAIRLEAD_NUMBER=3 FAIRLEAD_POOL=film " +
		"HOME=/home/ann LANG=C.UTF-8 LOGNAME=ann PATH=/usr/local/bin:/usr/bin:/bin SHELL=/bin/sh USER=ann"
	if got := strings.Join(environ.List(env), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
