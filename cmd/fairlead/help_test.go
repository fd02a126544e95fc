package main

import (
	"io"
	"strings"
	"testing"
)

// TestUnknownCommand checks that unknown commands are refused, also by help, and that only similar names are
// suggested.
func TestUnknownCommand(t *testing.T) {
	for text, want := range map[string]string{
		"foo": `unknown command "foo"`, "help foo": `unknown command "foo"`, "qeueu": `unknown command "qeueu" - did you mean queue?`,
		"help tpo": `unknown command "tpo"`, "help config show": "",
		"to": `unknown command "to" - did you mean token or top?`, "sim foo": `unknown command "foo"`,
		"token creat": `unknown command "creat" - did you mean create?`, "token": "", "help": "", "help help": "",
	} {
		root := newRoot(&app{in: strings.NewReader(""), out: io.Discard, errs: io.Discard})
		root.SetOut(io.Discard)
		root.SetArgs(strings.Fields(text))
		got := ""
		if err := root.ExecuteContext(t.Context()); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("fairlead %s: %q, want %q", text, got, want)
		}
	}
}

// TestFlagErrors checks that the error of a wrong value names the flag and the values that it takes.
func TestFlagErrors(t *testing.T) {
	for text, want := range map[string]string{
		"serve --dev --cpus x":            `--cpus: "x" is not a whole number`,
		"serve --lease 5":                 `--lease: "5" is not a duration such as 90s, 30m or 1h30m`,
		"work --label rack":               `--label: "rack" is not NAME=VALUE`,
		"submit --request tape=a":         `--request: "tape=a" is not NAME=NUMBER`,
		"sim generate lublin --load=much": `--load: "much" is not a number`,
		"queue --bogus":                   "unknown flag: --bogus",
	} {
		root := newRoot(&app{in: strings.NewReader(""), out: io.Discard, errs: io.Discard})
		root.SetArgs(strings.Fields(text))
		if err := root.ExecuteContext(t.Context()); err == nil || err.Error() != want {
			t.Errorf("fairlead %s: %v, want %q", text, err, want)
		}
	}
}

// TestWhyOfNothing checks that an empty name is refused, for example the value of an unset shell variable.
func TestWhyOfNothing(t *testing.T) {
	root := newRoot(&app{in: strings.NewReader(""), out: io.Discard, errs: io.Discard})
	root.SetArgs([]string{"why", ""})
	if err := root.ExecuteContext(t.Context()); err == nil || err.Error() != "the name is empty; expected a job, pool, user or node" {
		t.Errorf("got %v", err)
	}
}

// TestNumberOfJobs checks that the program does not write "1 jobs".
func TestNumberOfJobs(t *testing.T) {
	if one, two := these(1), these(2); one != "this job" || two != "these 2 jobs" {
		t.Errorf("%q, %q", one, two)
	}
}
