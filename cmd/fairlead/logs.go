package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
)

func logsCommand(a *app) *cobra.Command {
	var follow, stderr, all, raw bool
	var attempt int
	var tail int
	c := &cobra.Command{
		Use:   "logs JOB[_NUMBER]",
		Short: "Print the output of a job",
		Long: `Print the output of a job from its agent. A job that writes its output to a file
(submit -o) has none here.

A terminal shows text, colors and progress bars; other control sequences are removed. A pipe
or a file gets the output unchanged. With --raw a terminal gets it unchanged, too: then the job
can control the terminal like a program that runs in it.`,
		Example: "  fairlead logs 1042\n  fairlead logs -f 1042_7\n  fairlead logs --tail 20 1042\n  fairlead logs --all 1042      all tasks, with the task's number before each line",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			id, number, err := jobID(args[0])
			if err != nil {
				return err
			}
			return a.with(func(client *api.Client) error {
				q := url.Values{}
				if all {
					if follow || number >= 0 {
						return usagef("--all prints the output of all tasks; leave out -f and the number of the task")
					}
					return allLogs(c.Context(), a, client, id, stderr, raw, tail)
				}
				if number >= 0 {
					index, err := taskIndex(c.Context(), client, id, number)
					if err != nil {
						return err
					}
					q.Set("task", strconv.Itoa(index))
				}
				if attempt > 0 {
					q.Set("attempt", strconv.Itoa(attempt))
				}
				if stderr {
					q.Set("stderr", "true")
				}
				return printLog(c.Context(), a, client, id, q, tail, follow, raw)
			})
		},
	}
	f := c.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "follow the output until the job ends")
	f.BoolVar(&all, "all", false, "output of all tasks in turn, with number and node before each line")
	f.BoolVar(&raw, "raw", false, "unchanged output, even on a terminal")
	f.IntVar(&attempt, "attempt", 0, "output of this attempt (default: the latest)")
	f.IntVar(&tail, "tail", 0, "number of last lines to print (within the last 256 KiB)")
	return c
}

// allLogs prints the output of the last attempt of each task; each line begins with the task's number and
// node.
func allLogs(ctx context.Context, a *app, client *api.Client, id int64, stderr, raw bool, tail int) error {
	r, err := client.Jobs.Get(ctx, id)
	if err != nil {
		return err
	}
	for _, t := range r.Tasks {
		var text bytes.Buffer
		q := url.Values{"task": {strconv.Itoa(t.Task)}}
		if stderr {
			q.Set("stderr", "true")
		}
		if err := copyLog(ctx, a, &text, client, id, q, tail, false); err != nil {
			return fmt.Errorf("task %d: %w", t.Number, err)
		}
		printed, out := text.String(), plain.Raw(a.out)
		if a.terminal() && !raw {
			printed = plain.Text(printed)
		}
		for line := range strings.Lines(printed) {
			fmt.Fprintf(out, "%d %s: %s\n", t.Number, plain.Line(t.Node), strings.TrimSuffix(line, "\n"))
		}
	}
	return nil
}

// taskIndex returns the index of a task by its number in the array.
func taskIndex(ctx context.Context, client *api.Client, id int64, number int) (int, error) {
	r, err := client.Jobs.Get(ctx, id)
	if err != nil {
		return 0, err
	}
	for _, t := range r.Tasks {
		if t.Number == number {
			return t.Task, nil
		}
	}
	return 0, usagef("task %d of job %d has not started, or does not exist", number, id)
}

// logPart is how much output one request asks for.
const logPart = 256 << 10

// printLog prints output. A program gets it unchanged; a terminal gets only text and colors, because a job
// or its input could send any control sequence.
func printLog(ctx context.Context, a *app, client *api.Client, id int64, q url.Values, tail int, follow, raw bool) error {
	if raw || !a.terminal() {
		return copyLog(ctx, a, plain.Raw(a.out), client, id, q, tail, follow)
	}
	out := plain.NewOutput(plain.Raw(a.out))
	return errors.Join(copyLog(ctx, a, out, client, id, q, tail, follow), out.Close())
}

// copyLog copies output, all of it or only the last lines. It copies the present output or, if follow is
// set, all output until the job ends.
func copyLog(ctx context.Context, a *app, out io.Writer, client *api.Client, id int64, q url.Values, tail int, follow bool) error {
	offset, told := int64(0), false
	if tail > 0 {
		offset = -logPart
	}
	for {
		q.Set("offset", strconv.FormatInt(offset, 10))
		q.Set("limit", strconv.Itoa(logPart))
		chunk, err := client.Jobs.Log(ctx, id, q)
		switch {
		case err != nil:
			return err
		case chunk.Later != "" && !follow:
			return fmt.Errorf("job %d has no output yet: %s; fairlead logs -f %d waits for it", id, plain.Line(chunk.Later), id)
		case chunk.Later != "" && !told:
			told = true
			fmt.Fprintf(a.errs, "fairlead: %s; waiting for it\n", plain.Line(chunk.Later))
		}
		if follow {
			q.Set("wait_seconds", "20")
		}
		text := chunk.Data
		if offset < 0 {
			text = lastLines(text, tail)
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
		offset = chunk.Offset + int64(len(chunk.Data))
		if chunk.Ended || !follow && offset >= chunk.Size {
			return nil
		}
	}
}

// lastLines returns the last n lines of a text.
func lastLines(text []byte, n int) []byte {
	end := len(bytes.TrimSuffix(text, []byte("\n")))
	for ; n > 0 && end > 0; n-- {
		end = max(0, bytes.LastIndexByte(text[:end], '\n'))
	}
	return bytes.TrimPrefix(text[end:], []byte("\n"))
}
