package submit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/submit"
)

// described returns the job of a script with directives, with flags as pairs of name and text.
func described(t *testing.T, directives string, flags ...string) (*api.Spec, error) {
	t.Helper()
	o, set := submit.Options{}, pflag.NewFlagSet("submit", pflag.ContinueOnError)
	o.AddFlags(set)
	for i := 0; i < len(flags); i += 2 {
		if err := set.Set(flags[i], flags[i+1]); err != nil {
			return nil, err
		}
	}
	spec, _, err := o.Script("script", []byte("#!/bin/sh\n"+directives+"\ntrue\n"), []string{"script"})
	return spec, err
}

// TestWholeNumbersAreDecimal: a leading zero does not change a number, and other notations of Go are refused.
func TestWholeNumbersAreDecimal(t *testing.T) {
	for text, want := range map[string]int64{"010": 10, "0009": 9, "12": 12, "+3": 3} {
		if s, err := described(t, "", "cpus", text); err != nil || s.Request["cpu"] != want {
			t.Errorf("--cpus %s: %+v, %v", text, s, err)
		}
		if s, err := described(t, "#FL --cpus "+text); err != nil || s.Request["cpu"] != want {
			t.Errorf("#FL --cpus %s: %+v, %v", text, s, err)
		}
	}
	for _, text := range []string{"0x10", "0b1", "1_000", "0o7", "", "-", "1e3"} {
		if s, err := described(t, "", "cpus", text); err == nil {
			t.Errorf("--cpus %q: %+v", text, s)
		}
	}
}

// TestScriptsMaySetAllFlags: a #FL line takes each flag of submit.
func TestScriptsMaySetAllFlags(t *testing.T) {
	texts := map[string]string{"cpus": "2", "mem": "1G", "mem-per-cpu": "100M", "gpus": "1", "nodes": "2", "tasks": "2",
		"request": "tape=1", "licenses": "x:1", "time": "30m", "nice": "5", "array": "0-3", "max-running": "2",
		"after": "ok:7", "begin": "+2h", "retries": "1", "backoff": "5s", "chdir": "/tmp", "export": "NONE", "hold": ""}
	o, set := submit.Options{}, pflag.NewFlagSet("submit", pflag.ContinueOnError)
	o.AddFlags(set)
	set.VisitAll(func(f *pflag.Flag) {
		text, known := texts[f.Name]
		if !known {
			text = "x"
		}
		if _, err := described(t, fmt.Sprintf("#FL --%s %s", f.Name, text)); err != nil {
			t.Errorf("--%s: %v", f.Name, err)
		}
	})
	if s, err := described(t, "#FL --mem-per-cpu 100M -c 4"); err != nil || s.Request["mem"] != 400<<20 {
		t.Errorf("memory of 4 processors: %+v, %v", s, err)
	}
	if _, err := described(t, "#FL --mem-per-cpu 4X"); err == nil || !strings.Contains(err.Error(), "mem-per-cpu: ") {
		t.Errorf("the error does not name the option: %v", err)
	}
}

// TestMaxRunningOfTheUserGoesFirst: the bound of the running tasks that the user gives replaces the bound of the
// script, in whichever notation the two are.
func TestMaxRunningOfTheUserGoesFirst(t *testing.T) {
	for _, c := range []struct {
		script string
		flags  []string
		array  string
		most   int
	}{
		{"#FL -a 1-20%2", []string{"max-running", "5"}, "1-20", 5},
		{"#FL --max-running 2", []string{"array", "1-20%5"}, "1-20%5", 0},
		{"#FL -a 1-9", []string{"array", "1-20%2", "max-running", "5"}, "1-20", 5},
		{"#FL -a 1-9%3 --max-running 4", nil, "1-9", 4},
		{"#FL -a 1-9%3", nil, "1-9%3", 0},
	} {
		if s, err := described(t, c.script, c.flags...); err != nil || s.Array != c.array || s.MaxRunning != c.most {
			t.Errorf("%s with %v: array %s, %d at once, %v; want %s, %d", c.script, c.flags, s.Array, s.MaxRunning, err,
				c.array, c.most)
		}
	}
	if s, err := described(t, "#FL -a 1-9%x --max-running 4"); err == nil {
		t.Errorf("a malformed bound of an array was accepted: %+v", s)
	}
}
