package bridgetest

import (
	"os"
	"strings"

	"github.com/fairlead/fairlead/internal/bridge"
)

// arguments checks that a command gets its arguments unchanged, whatever a shell would make of them.
func arguments(s *suite) {
	args := []string{
		"", " ", "two words", "tab\tnew\nline", `"double"`, `'single'`, `it's`, "`date`", "$(date)", "$HOME", `\`, `\n`, "*",
		"~", "!", "#x",
		";", "&& false", "|", "> file", "-n", "--", "%s%j", "äöü €", "{}", "[a]", "=", strings.Repeat("long ", 2000),
	}
	job := s.shell(1, `printf '%s\0' "$@" > "$0"; printf '%s\0' "$HOSTILE" >> "$0"`,
		append([]string{s.trace("args")}, args...)...)
	hostile := "a b\n'c' \"d\" $(e) `f` \\ ; # %g = ,h"
	job.Job.Env = map[string]string{"HOSTILE": hostile}
	if x := s.await(s.submit(job), ended)[0]; x.Phase != bridge.Succeeded {
		s.Fatalf("got %+v", x)
	}
	text, err := os.ReadFile(s.trace("args"))
	if err != nil {
		s.Fatal(err)
	}
	want := append(args, hostile)
	got := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	if len(got) != len(want) {
		s.Fatalf("%d arguments arrived, want %d: %q", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			s.Errorf("argument %d is %q, want %q", i, got[i], want[i])
		}
	}
}

// scripts checks that a script runs with its arguments, in the directory of its job, whether it names its
// interpreter or not.
func scripts(s *suite) {
	var all []bridge.Submission
	for _, text := range []string{"#!/bin/sh\necho \"$1 in $(pwd)\" >> \"$2\"\n", "echo \"$1 in $(pwd)\" >> \"$2\""} {
		job := s.job(1, "script", "it's \"me\"", s.trace("script"))
		job.Job.Script, job.Job.Payload = true, []byte(text)
		all = append(all, job)
	}
	for i, x := range s.await(s.submit(all...), ended) {
		if x.Phase != bridge.Succeeded {
			s.Errorf("script %d: %+v", i, x)
		}
	}
	text, _ := os.ReadFile(s.trace("script"))
	line := `it's "me" in ` + s.dir + "\n"
	if string(text) != line+line {
		s.Errorf("they left %q", text)
	}
}

// names checks that the name of a job has no effect, whatever it contains.
func names(s *suite) {
	var all []bridge.Submission
	for _, name := range []string{
		"", "-x", "--help", "two words", "quote'\"", "$(touch x)", "äöü", "%s", "a,b;c|d", "#", strings.Repeat("n", 255),
	} {
		job := s.shell(1, `echo x >> "$0"`, s.trace("names"))
		job.Job.Name = name
		all = append(all, job)
	}
	for i, x := range s.await(s.submit(all...), ended) {
		if x.Phase != bridge.Succeeded {
			s.Errorf("name %q: %+v", all[i].Job.Name, x)
		}
	}
	if n := len(s.lines(s.trace("names"))); n != len(all) {
		s.Errorf("%d ran, want %d", n, len(all))
	}
}
