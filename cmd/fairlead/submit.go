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

--mem and --mem-per-cpu choose a node that has this much memory left after the requests of its other tasks.
They are not enforced: a task that uses more takes memory from others. history -l shows the peak.

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
	s.options.Pool = os.Getenv("FAIRLEAD_POOL")
	s.options.AddFlags(f)
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
	s.options.AddSbatchFlags(f)
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

// send submits the job, and repeats the request if the answer is lost; the job's key makes that safe.
func (s *submission) send(ctx context.Context, client *api.Client, spec *api.Spec) (*api.Submitted, error) {
	request := api.SubmitRequest{Jobs: []api.Spec{*spec}, DryRun: s.dryRun, Unsatisfiable: s.unsatisfiable, Estimate: !s.parsable && !s.options.Hold}
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
