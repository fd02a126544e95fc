package main

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// requestOf returns the job that a submit command with these arguments and this script would send, nil if the program
// refuses it; a refusal must have a reason.
func requestOf(t *testing.T, input string, args ...string) *api.Spec {
	t.Helper()
	s := &submission{app: &app{in: strings.NewReader(input), out: io.Discard, errs: io.Discard}}
	c := s.command()
	err := c.ParseFlags(args)
	rest := c.Flags().Args()
	if err == nil && (s.wrap != "" || len(rest) == 0 || c.ArgsLenAtDash() != 0 && rest[0] != "-") {
		return nil // a script of that name may exist or not
	}
	var spec *api.Spec
	if err == nil {
		spec, err = s.spec(c, rest)
	}
	if err != nil {
		if strings.TrimSpace(err.Error()) == "" {
			t.Fatalf("%q is refused without a reason", args)
		}
		return nil
	}
	return spec
}

// holds checks a property of every job that a command would send: it is refused as invalid, or means the same after it
// was sent.
func holds(t *testing.T, spec *api.Spec) {
	t.Helper()
	if spec == nil {
		return
	}
	for name, n := range spec.Request {
		if n < 0 {
			t.Fatalf("the job asks for %d %s", n, name)
		}
	}
	j := spec.ToJob()
	if err := j.Check(); err != nil {
		if !errors.Is(err, queue.ErrInvalid) {
			t.Fatalf("%+v: refused with %v", spec, err)
		}
		return
	}
	text, err := json.Marshal(api.FromSpec(&j))
	if err != nil {
		t.Fatal(err)
	}
	var got api.Spec
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	again := got.ToJob()
	if err := again.Check(); err != nil {
		t.Fatalf("%s was good, and is refused after it was sent: %v", text, err)
	}
	if x, y := api.FromSpec(&j), api.FromSpec(&again); again.Tasks != j.Tasks || !reflect.DeepEqual(normalised(t, &x), normalised(t, &y)) {
		t.Fatalf("sent as %s\nit is read as %+v", text, y)
	}
}

// normalised returns the JSON form of a job, in which empty and missing values are equal.
func normalised(t *testing.T, s *api.Spec) (out map[string]any) {
	t.Helper()
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// FuzzSubmit parses arguments, one per line: sizes, durations, constraints, arrays, dependencies.
func FuzzSubmit(f *testing.F) {
	for _, args := range []string{
		"-c\n4\n--mem\n8G\n-t\n2h", "--mem-per-cpu=512M\n-c2", "--mem=1.5T\n--request=tape=2,fpga:u50=1", "-t\n2-12:00:00", "-t\n90", "-t\nunlimited\n--backoff=90s",
		"--array\n0-99%10", "-a1-9:4,20", "-a\n5,3,1", "-d\nok:12,any:13\n-d\n14", "--after=failed:7", "-G\na100:2,h100:1", "-G2",
		"-C\narch=amd64 & rack!=b|c & ssd & !old", "-L\nmatlab:2,ansys\n--rate=linkedin", "-b\n+2h", "-b16:00", "-b\n2026-12-24T08:00\n-H", "-btomorrow",
		"--export=ALL,X=1\n-D\n/tmp", "--priority=high\n--qos=q\n--nice=-5", "-A\nphysics/markov\n-k\nk\n--requestor=r\n--key=k", "--retries\n3\n--max-running=2\n-o\n%j.out\n-e/dev/null",
		"-C\n" + strings.Repeat("a=b & ", 200) + "c", "--mem-per-cpu=7E\n-c4", "-G\n9223372036854775807,9223372036854775807,3",
	} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		args := append(strings.Split(lines, "\n"), "--", "true")
		holds(t, requestOf(t, "", args...))
	})
}

// FuzzScript parses headers of scripts, our own and foreign ones: each becomes a job or is refused.
func FuzzScript(f *testing.F) {
	for _, text := range []string{
		"#!/bin/sh\n#FL -c 4 --mem 8G -t 2h\n#FL -J 'a b' -A physics\ntrue\n",
		"#!/bin/bash\n#SBATCH --job-name=x\n#SBATCH --time=1-00:00:00\n#SBATCH --ntasks=4 --cpus-per-task=2\n#SBATCH --mem-per-cpu=2G\n#SBATCH --gres=gpu:a100:2\n#SBATCH --array=1-10%2\n#SBATCH --dependency=afterok:12:13,afterany:7\n",
		"#SBATCH -N 2 -n 8 -p batch -C ssd&rack -L matlab@server:2 -q high --nice=10\n#SBATCH --begin=now+1hour -o %x-%j.out --exclusive --mail-user=x\n",
		"#PBS -N x -l nodes=2:ppn=4,walltime=01:00:00,mem=4gb\n#PBS -W depend=afterok:5 -q batch -t 1-5\n#PBS -l select=2:ncpus=8:mem=16gb:ngpus=1\n",
		"#FL --rate=linkedin -L 'matlab:2' -C \"rack!=b\" # and more\n#FL -G a100:1 -d ok:3 -b +1h -H\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { holds(t, requestOf(t, text, "-")) })
}
