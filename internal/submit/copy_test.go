package submit

import (
	"reflect"
	"testing"

	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/internal/api"
)

// TestCopyIsTheSameJob checks that the texts of a job, set as flags again, describe the same job.
func TestCopyIsTheSameJob(t *testing.T) {
	for name, want := range map[string]api.Spec{
		"plain": {Name: "a", Request: map[string]int64{}},
		"much": {
			Name: "b", Kind: "k", Pool: "physics/markov", QOS: "q", Nice: 5, Priority: "high",
			Constraint:  "arch=amd64 & rack!=b",
			Reservation: "course", Array: "1-20:2", MaxRunning: 3, Output: "/tmp/%j.out", Error: "/tmp/%j.err", Dir: "/tmp",
			Requestor: "r", Retries: 2, BackoffSeconds: 90, LimitSeconds: 5430, Rates: []string{"x", "y"},
			Request:  map[string]int64{"cpu": 4, "mem": 3 << 29, "gpu": 1, "gpu:a100": 2, "tape": 3},
			Licenses: map[string]int64{"ansys": 1, "matlab": 2},
		},
		"bounded": {Name: "e", Array: "1-20%4", MaxRunning: 4, Request: map[string]int64{"cpu": 1}},
		"nodes":   {Name: "c", Gang: 4, Spread: true, Request: map[string]int64{"cpu": 1}},
		"tasks":   {Name: "d", Gang: 4, Request: map[string]int64{"mem": 1000}, LimitSeconds: 0.5},
	} {
		var o Options
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		o.AddFlags(f)
		for flag, text := range Copy(&want) {
			if err := f.Set(flag, text); err != nil {
				t.Errorf("%s: --%s %s: %v", name, flag, text, err)
			}
		}
		got, _, err := o.Command([]string{"true"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want.Argv, want.Env = []string{"true"}, map[string]string{}
		if want.LimitSeconds == 0 {
			want.LimitSeconds = -1 // a stored job without a limit has 0
		}
		if name == "bounded" {
			want.MaxRunning = 0 // the server finds it in the array
		}
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: the copy is\n%+v\nwant\n%+v", name, *got, want)
		}
	}
}
