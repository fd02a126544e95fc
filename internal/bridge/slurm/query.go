package slurm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// queueFormat lists the fields that we ask of squeue; none of them contains |.
const queueFormat = "JobID:|,Name:|,State:|,Reason:|,exit_code:|,PriorityLong:|," +
	"SubmitTime:|,StartTime:|,EndTime:|,tres-alloc:|"

// maxNames is how many names one command gets: a single argument must fit into 128K.
const maxNames = 1000

func (c *commands) queue(ctx context.Context, names []string) ([]record, error) {
	args := []string{"--noheader", "--all", "--states=all", "--Format=" + queueFormat}
	if len(names) <= maxNames {
		args = append(args, "--name="+strings.Join(names, ","))
	} // else read all jobs, which is one call as well
	out, err := c.run(ctx, nil, nil, "squeue", args...)
	if err != nil {
		return nil, err
	}
	var all []record
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		if len(f) != 11 {
			continue // this is no job of ours: our names contain no |
		}
		r := record{
			id: f[0], name: f[1], state: f[2], reason: f[3], submitted: instant(f[6]), began: instant(f[7]),
			ended: instant(f[8]), tres: f[9],
		}
		r.priority, _ = strconv.ParseInt(f[5], 10, 64)
		status, _ := strconv.Atoi(f[4]) // as wait(2) returns it
		r.code, r.signal = status>>8&0xff, status&0x7f
		if !r.began.IsZero() && r.over() {
			r.elapsed = max(0, r.ended.Sub(r.began))
		}
		all = append(all, r)
	}
	return all, nil
}

// accountingFormat lists the fields that we ask of sacct.
const accountingFormat = "JobIDRaw,JobName,State,ExitCode,Submit,Start,End,ElapsedRaw,TotalCPU,AllocTRES,Reason"

func (c *commands) accounting(ctx context.Context, ids, names []string, since time.Time) ([]record, error) {
	args := []string{
		"--allusers", "--noheader", "--parsable2", "--duplicates", "--format=" + accountingFormat,
		"--starttime=" + since.Local().Format("2006-01-02T15:04:05"),
	}
	if len(ids) > 0 {
		args = append(args, "--jobs="+strings.Join(ids, ","))
	} else {
		args = append(args, "--name="+strings.Join(names, ","))
	}
	out, err := c.run(ctx, nil, nil, "sacct", args...)
	if err != nil {
		return nil, err
	}
	var all []record
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		if len(f) == 11 && !strings.Contains(f[0], ".") { // an id with a point is a step
			all = append(all, accounted(f))
		}
	}
	return all, nil
}

// accounted returns the record of a line of sacct.
func accounted(f []string) record {
	state, _, _ := strings.Cut(f[2], " ") // CANCELLED by 1000
	r := record{
		id: f[0], name: f[1], state: state, submitted: instant(f[4]), began: instant(f[5]), ended: instant(f[6]), tres: f[9],
		measured: true,
	}
	if f[10] != "None" {
		r.reason = f[10]
	}
	seconds, _ := strconv.ParseFloat(f[7], 64)
	r.elapsed, r.cpu = time.Duration(seconds*float64(time.Second)), clock(f[8])
	fmt.Sscanf(f[3], "%d:%d", &r.code, &r.signal)
	return r
}

// backlog reads the length of the queue to slurmdbd.
func (c *commands) backlog(ctx context.Context) (int, error) {
	out, err := c.run(ctx, nil, nil, "sdiag")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) == "DBD Agent queue size" {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return 0, fmt.Errorf("sdiag does not report the length of the queue to slurmdbd")
}

// configuration reads the output of scontrol show config.
func (c *commands) configuration(ctx context.Context) (*config, error) {
	out, err := c.run(ctx, nil, nil, "scontrol", "show", "config")
	if err != nil {
		return nil, err
	}
	all := config{}
	for line := range strings.Lines(out) {
		name, value, found := strings.Cut(line, "=")
		if value = strings.TrimSpace(value); found && value != "(null)" {
			all[strings.TrimSpace(name)] = value
		}
	}
	return &all, nil
}

func (c *commands) rank(ctx context.Context) (string, error) {
	out, err := c.run(ctx, nil, nil, "sacctmgr", "--noheader", "--parsable2", "show", "user", c.me.Username,
		"format=adminlevel")
	return strings.TrimSpace(out), err
}

// has asks sinfo for a partition, and sacctmgr for an account.
func (c *commands) has(ctx context.Context, what, name string) (bool, error) {
	command, args := "sinfo", []string{"--noheader", "--all", "--format=%R"}
	if what == account {
		command, args = "sacctmgr", []string{"--noheader", "--parsable2", "show", "account", "name=" + name, "format=account"}
	}
	out, err := c.run(ctx, nil, nil, command, args...)
	return slices.ContainsFunc(strings.Fields(out), func(there string) bool {
		return there == name || what == account && strings.EqualFold(there, name) // slurmdbd uses lower case
	}), err
}
