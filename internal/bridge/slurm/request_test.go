package slurm

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/queue"
)

// TestOptions checks the options of sbatch for a job.
func TestOptions(t *testing.T) {
	q := with(t, &fake{})
	q.options.Account, q.options.Partition = "{top}", "gpu"
	s := bridge.Submission{Marker: "fl-1", Priority: 2000, Number: 7, Ref: queue.Ref{JobID: 42, Attempt: 1},
		Job: &queue.Job{
			ID: 42, Name: "a b/c", User: "root", Pool: "physics/env/julie", Script: true, Payload: []byte("echo"),
			Argv: []string{"job.sh", "x y"}, Dir: "/data", Output: "out-%x_%j.%%", Array: "0-9", Tasks: 10,
			Request:  queue.Amounts{"cpu": 8, "mem": 3<<30 + 1, "gpu": 2, "gpu:a100": 2},
			Licenses: queue.Amounts{"matlab": 1, "abaqus": 5}, Limit: 90*time.Minute + time.Second, Constraint: "intel & ssd",
			Env: map[string]string{"FAIRLEAD_NTASKS": "4"},
		}}
	r, err := q.request(&s)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"--parsable", "--export-file=3", "--ignore-pbs", "--nodes=1", "--job-name=fl-1",
		"--comment=fairlead job 42 a b/c", "--priority=2000", "--uid=0", "--gid=0",
		"--account=physics", "--partition=gpu", "--chdir=/data", "--output=out-a b_c_42.%%.7", "--ntasks=4",
		"--cpus-per-task=2", "--gres=gpu:a100:2",
		"--licenses=abaqus:5,matlab:1", "--constraint=intel&ssd", "--mem=3073M", "--time=91", "/dev/stdin", "x y"}
	if got := r.options(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, v := range []string{"SLURM_ARRAY_TASK_ID=7", "FAIRLEAD_JOB=42", "FAIRLEAD_MARKER=fl-1"} {
		if !slices.Contains(r.env, v) {
			t.Errorf("%s is not in the environment %q", v, r.env)
		}
	}
}

// TestNotForSlurm checks that the bridge refuses, for good, jobs that Slurm could not run as intended.
func TestNotForSlurm(t *testing.T) {
	for _, test := range []struct {
		as   string
		any  bool
		job  queue.Job
		want string // "" is taken
	}{
		{"", false, queue.Job{User: "root", Argv: []string{"true"}}, ""},
		{"", false, queue.Job{User: "root", Argv: []string{"true"}, Gang: 2}, "a gang"},
		{"", false, queue.Job{User: "root", Kind: "mail"}, "no command"},
		{"", false, queue.Job{User: "no-such-user", Argv: []string{"true"}}, "does not exist"},
		{"", false, queue.Job{User: "root", Argv: []string{"true"}, Constraint: "arch=amd64"}, "features"},
		{"root", false, queue.Job{User: "julie", Argv: []string{"true"}}, "--any-user"},
		{"root", true, queue.Job{User: "julie", Argv: []string{"true"}}, ""},
	} {
		q := with(t, &fake{as: test.as})
		q.options.AnyUser = test.any
		_, err := q.request(&bridge.Submission{Priority: 1, Job: &test.job})
		if (err == nil) != (test.want == "") ||
			err != nil && (!errors.Is(err, queue.ErrInvalid) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: got %v, want %q", test.job, err, test.want)
		}
	}
	// A wrong level is no fault of the job.
	q := with(t, &fake{})
	if _, err := q.request(
		&bridge.Submission{Priority: 0, Job: &queue.Job{User: "root", Argv: []string{"true"}}}); err == nil ||
		errors.Is(err, queue.ErrInvalid) {
		t.Errorf("priority 0: got %v", err)
	}
}

// TestMask checks that no line of a user's script is an option for sbatch.
func TestMask(t *testing.T) {
	in := "#!/bin/sh\n#SBATCH --uid=0\n\n  # a comment\n#PBS -q x\n#BSUB -q\n# end\necho\n#SBATCH late\n"
	want := "#!/bin/sh\n##SBATCH --uid=0\n\n  # a comment\n##PBS -q x\n##BSUB -q\n# end\necho\n#SBATCH late\n"
	if got := string(mask([]byte(in))); got != want {
		t.Errorf("got %q", got)
	}
	if got := string(mask([]byte("#SBATCH x"))); got != "##SBATCH x" {
		t.Errorf("without a line end: got %q", got)
	}
}

// TestDescribe checks that Describe names the broken preconditions and the remedies.
func TestDescribe(t *testing.T) {
	ok := config{
		"ClusterName": "c", "SlurmUser": "slurm(64030)", "PriorityType": "priority/multifactor", "PriorityWeightAge": "1000",
		"AccountingStorageType": "accounting_storage/slurmdbd", "MinJobAge": "300 sec",
	}
	for _, test := range []struct {
		name   string
		slurm  fake
		change map[string]string
		other  *disobedience
		want   []string // in the findings; empty: no findings
	}{
		{"root", fake{}, nil, nil, nil},
		{"SlurmUser", fake{as: "slurm"}, nil, nil, nil},
		{"operator", fake{as: "bridge", level: "Operator"}, nil, nil, nil},
		{"plain user", fake{as: "bridge", level: "None"}, nil, nil, []string{"set adminlevel=Operator", "age 1000"}},
		{
			"no accounting", fake{}, map[string]string{"AccountingStorageType": "accounting_storage/none"}, nil,
			[]string{"set up slurmdbd"},
		},
		{"plugin", fake{}, map[string]string{"JobSubmitPlugins": "lua"}, nil, []string{"JobSubmitPlugins is lua"}},
		{"short memory", fake{}, map[string]string{"MinJobAge": "30 sec"}, nil, []string{"MinJobAge is 30 sec"}},
		{"disobeyed", fake{}, nil, &disobedience{1000, 77, "12"}, []string{"job 12 the priority 1000, but it has 77"}},
	} {
		test.slurm.conf = config{}
		for name, value := range ok {
			test.slurm.conf[name] = value
		}
		for name, value := range test.change {
			test.slurm.conf[name] = value
		}
		q := with(t, &test.slurm)
		q.other = test.other
		d, err := q.Describe(t.Context())
		if err != nil || len(d.Found) != len(test.want) {
			t.Errorf("%s: got %+v, %v", test.name, d, err)
			continue
		}
		for i, text := range test.want {
			if !strings.Contains(d.Found[i].Text, text) {
				t.Errorf("%s: got %q, want %q in it", test.name, d.Found[i].Text, text)
			}
		}
	}
}

// TestAbsent checks that missing partitions and accounts are found before a job is sent.
func TestAbsent(t *testing.T) {
	with := func(partition, account, storage string, silent bool) string {
		q := with(t, &fake{silent: silent})
		q.options.Partition, q.options.Account = partition, account
		var all []string
		for _, d := range q.absent(t.Context(), config{"AccountingStorageType": storage}) {
			if !d.Broken {
				t.Errorf("%q is no obstacle", d.Text)
			}
			all = append(all, d.Text)
		}
		return strings.Join(all, "\n")
	}
	const slurmdbd = "accounting_storage/slurmdbd"
	for _, test := range []struct{ got, want string }{
		{with("", "", slurmdbd, false), ""},
		{with("some-partition", "some-account", slurmdbd, false), ""},
		{with("{top}", "{user}", slurmdbd, false), ""},
		{with("nope", "nope", slurmdbd, true), ""},
		{
			with("some-partition,nope", "", slurmdbd, false),
			"Slurm has no partition nope, which --partition names: list them with " +
				"sinfo",
		},
		{
			with("", "nope", slurmdbd, false), "Slurm has no account nope, which --account names: list them with sacctmgr " +
				"show account",
		},
		{with("", "nope", "accounting_storage/none", false), ""},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
