package script

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// scripts are scripts with the flags that they become.
var scripts = []struct {
	name, script string
	want         string // flags
	ignored      int
	compat       string
}{
	{"our own", "#!/bin/sh\n#FL -J hello -c4 --mem=2G\n#FL --hold\necho\n#FL -J late\n",
		"name=hello cpus=4 mem=2G hold=true", 0, ""},
	{"sbatch", `#!/bin/bash
#SBATCH --job-name="my job" # a comment
#SBATCH -n 4 -c 2
#SBATCH --mem=2000 --time=1-12:00:00
#SBATCH --gres=gpu:a100:2 -A physics
#SBATCH --array=0-9%3 -o out_%j.txt
#SBATCH --dependency=afterok:12:13,afterany:14
#SBATCH --partition=long --mail-type=ALL
`, "name=my job cpus=8 mem=2000M time=1-12:00:00 gpus=a100:2 pool=physics array=0-9%3 output=out_%j.txt after=ok:12 after=ok:13 after=any:14", 2, "slurm"},
	{"machines", "#SBATCH --gres=gpu:a100 -C intel&ssd\n#SBATCH -G h100:2,a100:1\n#SBATCH --gres=gpu:3,tape:1 --constraint=[a|b]*2\n", "constraint=intel&ssd gpus=3", 2, "slurm"},
	{"gpus of two types", "#SBATCH --gres=gpu:a100:2,gpu:h100\n", "gpus=a100:2,h100:1", 0, "slurm"},
	{"own machines", "#FL -G a100:2 -C rack=b\n", "gpus=a100:2 constraint=rack=b", 0, ""},
	{"several nodes", "#SBATCH -N 4\n", "nodes=4", 0, "slurm"},
	{"processes on nodes", "#SBATCH -c 2 -n 16\n#SBATCH -N 4 -G a100:8\n", "cpus=8 gpus=a100:2 nodes=4", 0, "slurm"},
	{"processes per node", "#SBATCH --ntasks-per-node=8 --nodes=2-4 --gpus-per-node=1\n", "gpus=1 cpus=8 nodes=2", 0,
		"slurm"},
	{"nodes by processes", "#SBATCH --ntasks=16 --ntasks-per-node=4\n", "cpus=4 nodes=4", 0, "slurm"},
	{"GPUs of processes", "#SBATCH --ntasks=4\n#SBATCH --gpus-per-task=a100:1\n", "gpus=a100:4 cpus=4", 0, "slurm"},
	{"GPUs of processes on nodes", "#SBATCH -N 2 -n 8 --gpus-per-task=2\n", "gpus=8 cpus=4 nodes=2", 0, "slurm"},
	{"GPUs of one process", "#SBATCH --gpus-per-task=h100\n", "gpus=h100:1", 0, "slurm"},
	{"GPUs of processes per node", "#SBATCH --ntasks-per-node=4 --gpus-per-task=1\n", "gpus=4 cpus=4", 0, "slurm"},
	{"GPUs of a node after those of processes", "#SBATCH -n 4 --gpus-per-task=1\n#SBATCH --gres=gpu:3\n",
		"gpus=3 cpus=4", 0, "slurm"},
	{"GPUs of the job by type", "#SBATCH -N 2 -G h100,a100:3\n", "gpus=h100:1,a100:2 nodes=2", 0, "slurm"},
	{"said twice", "#SBATCH -c 4 -J a -t 1:00 -L x:1 --mem=4G\n#SBATCH -n 3 -c 2 -c 2 -J b -t 5 -L y:2 --mem=1G -n 2\n",
		"cpus=4 name=b time=5 licenses=y:2 mem=1G", 0, "slurm"},
	{"dependency said twice", "#SBATCH -d afterok:1:2\n#SBATCH -d afterany:3\n", "after=any:3", 0, "slurm"},
	{"memory of a node, then of a processor", "#SBATCH --mem=4G\n#SBATCH --mem-per-cpu=512\n", "mem-per-cpu=512M", 0,
		"slurm"},
	{"pbs said twice", "#PBS -l ncpus=2 -N a\n#PBS -l ncpus=2 -N b -l walltime=1:00\n", "cpus=2 name=b time=1:00", 0,
		"pbs"},
	{"directives without a blank", "#SBATCH\t-t\t5\n#SBATCH--cpus-per-task=4\n#FL\t-J x\n#PBS\t-l ncpus=3\n",
		"time=5 cpus=3 name=x", 0, "pbs"},
	{"no directives", "#SBATCHES -c 4\n#FLAGS: none\n#SBATCH\n#PBSPRO -h\n#FL\n", "", 0, ""},
	{"all memory", "#SBATCH --mem=4G\n#SBATCH --mem=0\n#SBATCH --mem-per-cpu=0G\n", "", 2, "slurm"},
	{"comments of sbatch", "#SBATCH --mem=1G#mb\n#SBATCH --array 3-5#0-29\n#SBATCH -J 'a#b' # c\n",
		"mem=1G array=3-5 name=a#b", 0, "slurm"},
	{"no comment of ours", "#FL -J a#b\n", "name=a#b", 0, ""},
	{"a comment in Latin-1", "#!/bin/sh\n# caf\xe9\n#SBATCH -c 2\necho caf\xe9\n", "cpus=2", 0, "slurm"},
	{"own gang", "#FL -N 4 -c 2\n#FL -n 8\n", "nodes=4 cpus=2 tasks=8", 0, ""},
	{"one node", "#SBATCH -N 1\n#SBATCH --hold --quiet\n", "hold=true", 0, "slurm"},
	{"pbs", `#PBS -N sim
#PBS -l nodes=1:ppn=8,walltime=10:00:00
#PBS -l mem=4gb
#PBS -q batch -j oe
#PBS -W depend=afterok:7
#PBS -o host:/tmp/out
`, "name=sim cpus=8 time=10:00:00 mem=4G after=ok:7 output=/tmp/out", 1, "pbs"},
	{"pbs select", "#PBS -l select=2:ncpus=4:mem=1gb:mpiprocs=4 -V\n", "tasks=2 cpus=4 mem=1G export=ALL", 0, "pbs"},
	{"pbs nodes", "#PBS -l nodes=2:ppn=4\n", "nodes=2 cpus=4", 0, "pbs"},
	{"pbs properties", "#PBS -l nodes=fast:ppn=4\n", "cpus=4", 1, "pbs"},
	{"none", "echo hello\n#SBATCH -c 4\n", "", 0, ""},
}

func TestDirectives(t *testing.T) {
	for _, c := range scripts {
		d, err := Parse([]byte(c.script))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, f := range d.Flags {
			got = append(got, f.Name+"="+f.Value)
		}
		if s := strings.Join(got, " "); s != c.want || len(d.Ignored) != c.ignored || d.Compat != c.compat {
			t.Errorf("%s: got %s, ignored %v, compat %q; want %s, %d, %q", c.name, s, d.Ignored, d.Compat, c.want, c.ignored,
				c.compat)
		}
	}
}

// TestCommandLine: options of sbatch on a command line are read like a last line of the script.
func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		script string
		words  []string
		want   string
	}{
		{"#SBATCH -n 4 -J a\n", []string{"--cpus-per-task=2", "--job-name=b"}, "name=b cpus=8"},
		{"", []string{"--part=debug", "--account=physics", "--dependency=afterok:3"}, "pool=physics after=ok:3"},
		{"", []string{"--nodes=2", "--ntasks=8", "--cpus-per-task=2"}, "cpus=8 nodes=2"},
		{"", []string{"--ntasks=x"}, `--ntasks=x: "x" is not a number above 0`},
	} {
		d, err := Options(c.words...)
		if c.script != "" {
			d, err = Parse([]byte(c.script), c.words...)
		}
		if err != nil {
			if err.Error() != c.want {
				t.Errorf("%q: %v, want %s", c.words, err, c.want)
			}
			continue
		}
		var got []string
		for _, f := range d.Flags {
			got = append(got, f.Name+"="+f.Value)
		}
		slices.Sort(got)
		want := strings.Fields(c.want)
		slices.Sort(want)
		if !slices.Equal(got, want) || d.Compat != "slurm" {
			t.Errorf("%q: %q, compat %q; want %q", c.words, got, d.Compat, want)
		}
	}
}

func TestBadScripts(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "empty",
		"\x7fELF\x00\x01":             "binary",
		"#FL --frobnicate\n":          "line 1: --frobnicate",
		"\n#SBATCH -c many\n":         "line 2: #SBATCH -c many",
		"#SBATCH --job-name='open\n":  "quotation",
		"#SBATCH stray\n":             "not an option",
		"\ufeff#!/bin/sh\n":           "byte order mark",
		"#!/bin/sh\n#FL -J caf\xe9\n": "line 2: the directive has letters that are not UTF-8",
		"#SBATCH --cpu-per-task=4\n":  "line 1: #SBATCH --cpu-per-task=4: sbatch has no option --cpu-per-task - did you mean --cpus-per-task?",
		"#SBATCH --cpus=4\n":          "--cpus may mean --cpus-per-gpu or --cpus-per-task",
		"#SBATCH -z\n":                "sbatch has no option -z",
		"#SBATCH -c 0\n":              "0\" is not a number above 0",
		"#FL -J\n":                    "needs a value",
		strings.Repeat("#\n", 200000): "more than 262144 bytes",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want something with %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("#SBATCH -J x --gres=gpu:1 -d afterok:1\n#PBS -l select=1:ncpus=2\n#FL -c 4\n")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := Parse([]byte(text)); err == nil {
			_ = fmt.Sprint(d.Flags, d.Ignored)
		}
	})
}
