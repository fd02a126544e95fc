package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
)

func submitCommand(a *app) *cobra.Command { return (&submission{app: a}).command() }

func (s *submission) command() *cobra.Command {
	c := &cobra.Command{
		Use:   "submit [flags] (SCRIPT [ARG...] | -- COMMAND [ARG...] | --wrap STRING)",
		Short: "Submit a job",
		Long: `Submit a job: a command, a script, or a shell command line.

#FL lines of a script hold flags of this command. #SBATCH and #PBS lines are read, too; submit
lists the lines that have no effect. Flags on the command line override those in the script. The
long options of sbatch are read as in a script, e.g. --cpus-per-task=4 --account=physics.

--mem and --mem-per-cpu choose a node with this much memory beyond the requests of its other tasks. They
are not enforced: a task that uses more takes memory from others. history -l shows the peak.

The job gets PATH and the locale of your environment; pass more with --export.`,
		Example: `  fairlead submit -- ./simulate run.cfg
  fairlead submit -c 4 --mem 8G -t 2h -J neutrons job.sh
  fairlead submit --array 0-99%10 --wrap './step $FAIRLEAD_NUMBER'
  fairlead submit --after 1042 -- ./collect
  fairlead submit -N 4 -c 16 -t 2h mpi.sh
  fairlead submit -G a100:2 -C 'rack!=b' -- ./train
  fairlead submit -L matlab:1 --rate linkedin -- ./crawl
  id=$(fairlead submit --parsable -- ./prepare)`,
		RunE: s.run,
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVarP(&s.name, "name", "J", "", "name of the job")
	f.IntVarP(&s.cpus, "cpus", "c", 0, "processors per task (default 1)")
	f.StringVar(&s.mem, "mem", "", "memory per task, e.g. 4G; chooses a node, and is not enforced")
	f.StringVar(&s.memPerCPU, "mem-per-cpu", "", "memory per processor")
	f.StringSliceVarP(&s.gpus, "gpus", "G", nil, "GPUs per task: a number, or with a type, e.g. a100:2")
	f.IntVarP(&s.nodes, "nodes", "N", 0, "number of nodes; starts one task per node, all at once")
	f.IntVarP(&s.tasks, "tasks", "n", 0, "number of tasks to start at once, on any nodes")
	f.StringVarP(&s.constraint, "constraint", "C", "", "node label constraint, e.g. 'arch=amd64 & rack!=b'")
	f.StringVar(&s.reservation, "reservation", "", "run in this reservation of nodes; see fairlead reserve")
	f.StringToIntVar(&s.request, "request", nil, "further resources per task, e.g. tape=1")
	f.StringSliceVarP(&s.licenses, "licenses", "L", nil, "licenses that each task holds while it runs, e.g. matlab:1,ansys:2")
	f.StringSliceVar(&s.rates, "rate", nil, "rates that limit the starts of tasks, e.g. linkedin")
	f.StringVarP(&s.limit, "time", "t", "", "time limit: 90 (minutes), 1:30:00, 60h, unlimited (default: the pool's)")
	f.StringVarP(&s.pool, "pool", "A", os.Getenv("FAIRLEAD_POOL"), "pool to charge (default: by the placement rules)")
	f.StringVarP(&s.kind, "kind", "k", "", "kind of the job: chooses its workers, and may choose its pool")
	f.StringVar(&s.priority, "priority", "", "priority within the pool: very_high, high, normal, low, very_low")
	f.StringVar(&s.qos, "qos", "", "quality of service (multifactor only; default: the name of the priority)")
	f.IntVar(&s.nice, "nice", 0, "lower the job's priority by this number (multifactor only); below 0 for administrators only")
	f.StringVarP(&s.array, "array", "a", "", "task numbers, e.g. 0-99%10 (ten at once)")
	f.IntVar(&s.maxRunning, "max-running", 0, "maximum number of tasks that run at once")
	f.StringSliceVarP(&s.after, "after", "d", nil, "jobs to wait for: 12, ok:12, failed:12, any:12")
	f.StringVarP(&s.begin, "begin", "b", "", "earliest start: 16:00, +2h, tomorrow 08:00, 2026-12-24T08:00")
	f.BoolVarP(&s.hold, "hold", "H", false, "hold the job until it is released")
	f.IntVar(&s.retries, "retries", 0, "number of retries of a task that fails")
	f.StringVar(&s.backoff, "backoff", "", "delay before the first retry; doubles each time (default 5s)")
	f.StringVarP(&s.output, "output", "o", "", "file for the output; %j job, %a number, %x name, %N node (default: fairlead logs)")
	f.StringVarP(&s.errors_, "error", "e", "", "file for the error output (default: with the output)")
	f.StringVarP(&s.dir, "chdir", "D", "", "working directory (default: this one)")
	f.StringVar(&s.export, "export", "", "variables to pass: ALL, NONE, or NAME,NAME=VALUE")
	f.StringVar(&s.requestor, "requestor", "", "text that placement rules may match (default: your name)")
	f.StringVar(&s.key, "key", "", "idempotency key: submit only once under this key")
	f.StringVar(&s.wrap, "wrap", "", "shell command line instead of a script")
	f.BoolVar(&s.wait, "wait", false, "wait for the job to end; exit with its status")
	f.BoolVar(&s.parsable, "parsable", false, "print the id only")
	f.BoolVar(&s.dryRun, "dry-run", false, "show what would happen; submit nothing")
	f.BoolVar(&s.dryRun, "test-only", false, "same as --dry-run")
	f.Lookup("test-only").Hidden = true
	f.BoolVar(&s.unsatisfiable, "allow-unsatisfiable", false, "submit even if no known node could run the job")
	f.BoolVar(&s.json, "json", false, "print JSON")
	f.StringVar(&s.as, "as", "", "submit for another user (administrators only)")
	f.SetInterspersed(false)
	s.addSbatchFlags(f)
	return c
}

func (s *submission) run(c *cobra.Command, args []string) error {
	spec, err := s.spec(c, args)
	if err != nil {
		return err
	}
	if c.Flags().Changed("as") && s.as == "" {
		return usagef("--as: the name of the user is empty")
	}
	if strings.ContainsFunc(s.as, unicode.IsControl) {
		return usagef("--as: %.80q holds a control character", s.as)
	}
	return s.with(func(client *api.Client) error {
		client.As = s.as
		if spec.Key == "" && !s.dryRun {
			spec.Key = "cli-" + rand.Text() // so that a repeated request makes no second job
		}
		r, err := s.send(c.Context(), client, spec)
		if err != nil {
			return err
		}
		return s.report(c.Context(), client, r)
	})
}

// send submits the job, and repeats the request if the answer is lost: the job's key makes that safe.
func (s *submission) send(ctx context.Context, client *api.Client, spec *api.Spec) (*api.Submitted, error) {
	request := api.SubmitRequest{Jobs: []api.Spec{*spec}, DryRun: s.dryRun, Unsatisfiable: s.unsatisfiable, Estimate: !s.parsable && !s.hold}
	r, err := client.Jobs.Submit(ctx, request)
	for try := 0; try < 3 && errors.Is(err, io.ErrUnexpectedEOF); try++ {
		time.Sleep(200 * time.Millisecond)
		r, err = client.Jobs.Submit(ctx, request)
	}
	if err != nil {
		return nil, err
	}
	return &r.Jobs[0], r.Jobs[0].Error.Err()
}
