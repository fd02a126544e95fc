package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/slurm"
	"github.com/fairlead/fairlead/internal/wait"
)

// slurmBridge is the bridge to Slurm.
var slurmBridge = bridgeKind{
	name: "slurm", system: "Slurm",
	long: `Put fair share in front of Slurm. The bridge submits jobs with sbatch, or through slurmrestd,
and sets their priority directly, so that it does not age. Run it as root to submit each job as
its user. If an operator of Slurm runs it, it takes only that operator's own jobs; with --any-user yes
it takes all jobs, and runs them as that operator. --check shows which requirements are not met. The
bridge gives each job a unique name in Slurm, and finds it by that name;
docs/how-to/put-it-in-front-of-slurm.md describes the setup and how jobs are translated.`,
	example: `  fairlead bridge slurm --group physics=50,biology=30 --above daq --check
  fairlead bridge slurm --group physics=50,biology=30 --account '{top}' --partition batch
  fairlead bridge slurm --feed just-in-time --slots 200
  fairlead bridge slurm --rest http://localhost:6820 --rest-user bridge --any-user yes --token-file /etc/fairlead/slurm-token --config bridge.yaml`,
	options: []config.BridgeOption{
		{Name: "conf", Doc: "Path of slurm.conf (default: where Slurm's commands look for it)."},
		{Name: "account", Doc: "Account to charge; {user}, {pool}, {leaf} and {top} are replaced; {leaf} and {top} are the last and the first name of the pool's path."},
		{Name: "partition", Doc: "Partition, with the same replacements as account."},
		{Name: "slurm-qos", Doc: "Quality of service in Slurm, with the same replacements as account."},
		{Name: "output", Doc: "File for the output of jobs that name none, with the same replacements as account (default: where Slurm puts it)."},
		{Name: "any-user", Default: "no", Doc: "Run the jobs of all users as the user of the bridge: yes or no."},
		{Name: "allow-root", Default: "no", Doc: "Run root's jobs: yes or no."},
		{Name: "rest", Doc: "URL of slurmrestd, to use it instead of the commands."},
		{Name: "rest-user", Doc: "With slurmrestd: the user of the token; jobs run as that user."},
		{Name: "rest-version", Default: "v0.0.38", Doc: "With slurmrestd: version of its interface."},
		{Name: "token-file", Doc: "With slurmrestd: file with the token, read for each call (default: the variable SLURM_JWT)."},
	},
	levels: func(n int) []int64 {
		var all []int64
		for i := range n {
			all = append(all, int64(i+1)*1000) // priority 0 would hold a job
		}
		return all
	},
	open: openSlurm,
}

func openSlurm(_ context.Context, get func(string) string, log *slog.Logger, _ *wait.Outage) (bridge.QS, error) {
	o := slurm.Options{Conf: get("conf"), Account: get("account"), Partition: get("partition"), QOS: get("slurm-qos"), Output: get("output"), Logger: log}
	for name, to := range map[string]*bool{"any-user": &o.AnyUser, "allow-root": &o.AllowRoot} {
		switch text := get(name); text {
		case "yes", "no":
			*to = text == "yes"
		default:
			return nil, usagef("--%s: %q is not yes or no", name, text)
		}
	}
	if url := get("rest"); url != "" {
		o.REST = &slurm.REST{URL: url, User: get("rest-user"), Version: get("rest-version"), Token: slurmToken(get("token-file"))}
	} else if get("rest-user")+get("token-file") != "" {
		return nil, usagef("--rest-user and --token-file are for slurmrestd: give its URL with --rest")
	}
	q, err := slurm.Open(o)
	if err != nil {
		return nil, usageError{err}
	}
	return q, nil
}

// slurmToken returns a function that reads the token for slurmrestd, because the token may be renewed at any
// time.
func slurmToken(file string) func() (string, error) {
	return func() (string, error) {
		if file != "" {
			text, err := os.ReadFile(file)
			return string(text), err
		}
		if token := os.Getenv("SLURM_JWT"); token != "" {
			return token, nil
		}
		return "", fmt.Errorf("no token in --token-file or the variable SLURM_JWT; make one with: scontrol token lifespan=SECONDS")
	}
}
