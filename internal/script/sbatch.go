package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/config"
)

// sbatchLetters are the short forms of sbatch's options.
var sbatchLetters = map[string]string{
	"J": "job-name", "c": "cpus-per-task", "n": "ntasks", "N": "nodes", "t": "time", "A": "account", "p": "partition",
	"G": "gpus", "a": "array", "d": "dependency", "b": "begin", "H": "hold", "o": "output", "e": "error", "D": "chdir",
	"L": "licenses", "C": "constraint", "q": "qos", "w": "nodelist", "x": "exclude", "M": "clusters", "k": "no-kill",
	"s": "oversubscribe", "O": "overcommit", "Q": "quiet", "i": "input", "S": "core-spec", "W": "wait", "v": "verbose",
	"I": "immediate", "B": "extra-node-info", "F": "nodefile", "V": "version", "h": "help", "m": "distribution",
}

// sbatchNames are the long options of sbatch (its manual, Slurm 22.05 to 24.11), and whether each needs a value.
var sbatchNames = needs(
	"account acctg-freq array batch bb bbf begin chdir cluster-constraint clusters comment constraint container "+
		"container-id core-spec cores-per-socket cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency "+
		"distribution error exclude export export-file extra extra-node-info gid gpu-bind gpu-freq gpus "+
		"gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint input job-name kill-on-invalid-dep "+
		"licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus network nodefile "+
		"nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket open-mode output "+
		"partition power prefer priority profile qos reservation segment signal sockets-per-node switches "+
		"thread-spec threads-per-core time time-min tmp tres-bind tres-per-task uid wait-all-nodes wckey wrap",
	"contiguous exclusive get-user-env help hold ignore-pbs immediate nice no-kill no-requeue overcommit "+
		"oversubscribe parsable propagate quiet reboot requeue spread-job stepmgr test-only usage use-min-nodes "+
		"verbose version wait")

func needs(values, switches string) map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(values) {
		all[name] = true
	}
	for name := range strings.FieldsSeq(switches) {
		all[name] = false
	}
	return all
}

// SbatchOptions returns the long options of sbatch, and whether each needs a value.
func SbatchOptions() map[string]bool { return maps.Clone(sbatchNames) }

// sbatchName returns the long name of an option of sbatch. Its argument is a letter, a long name, or the
// beginning of exactly one long name.
func sbatchName(name string) (string, error) {
	if long, letter := sbatchLetters[name]; letter {
		return long, nil
	}
	if _, known := sbatchNames[name]; known {
		return name, nil
	}
	dashes, names := "--", slices.Sorted(maps.Keys(sbatchNames))
	if len(name) == 1 {
		dashes = "-"
	}
	begins := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, name) })
	switch {
	case len(name) > 1 && len(begins) == 1:
		return begins[0], nil
	case len(name) > 1 && len(begins) > 1:
		return "", fmt.Errorf("--%s may mean --%s", name, strings.Join(begins, " or --"))
	}
	if near := config.Nearest(name, names); len(name) > 1 && near != "" {
		return "", fmt.Errorf("sbatch has no option --%s - did you mean --%s?", name, near)
	}
	return "", fmt.Errorf("sbatch has no option %s%s", dashes, name)
}
