package script

import (
	"fmt"
	"strings"
	"testing"
)

func TestDirectives(t *testing.T) {
	for _, c := range []struct {
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
	} {
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

func TestBadScripts(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "empty",
		"\x7fELF\x00\x01":             "binary",
		"#FL --frobnicate\n":          "line 1: --frobnicate",
		"\n#SBATCH -c many\n":         "line 2: #SBATCH -c many",
		"#SBATCH --job-name='open\n":  "quotation",
		"#SBATCH stray\n":             "not an option",
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
