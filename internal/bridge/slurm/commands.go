package slurm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
)

// commands talks to Slurm by its commands, with their output formats for programs.
type commands struct {
	env []string
	me  *user.User
}

func openCommands(o Options) (*commands, error) {
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	// Pass nothing else of our environment: variables can change the effect of the commands.
	path := cmp.Or(o.Path, os.Getenv("PATH"))
	c := &commands{me: me, env: []string{"PATH=" + path, "LC_ALL=C", "SLURM_TIME_FORMAT=%s"}}
	if conf := cmp.Or(o.Conf, os.Getenv("SLURM_CONF")); conf != "" {
		c.env = append(c.env, "SLURM_CONF="+conf)
	}
	return c, nil
}

func (c *commands) close() {}

// runsAs returns "" for root, who may submit for all users, and else the user of the bridge.
func (c *commands) runsAs() string {
	if c.me.Uid == "0" {
		return ""
	}
	return c.me.Username
}

// run runs a command to its end and returns its output.
func (c *commands) run(ctx context.Context, in []byte, files []*os.File, name string, args ...string) (string, error) {
	path, err := c.look(name)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	var out, said bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = c.env, "/", &out, &said, files
	cmd.WaitDelay = time.Second
	if in != nil {
		cmd.Stdin = bytes.NewReader(in)
	}
	// The command dies with the bridge, because a submission must not arrive after the next bridge has looked
	// for it. Pdeathsig works only while the thread that forks exists, so lock the thread.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return out.String(), &failure{name, plain(name, said.String()), err}
	}
	return out.String(), nil
}

// look finds a command in the PATH of the options.
func (c *commands) look(name string) (string, error) {
	for dir := range strings.SplitSeq(strings.TrimPrefix(c.env[0], "PATH="), ":") {
		if path, err := exec.LookPath(dir + "/" + name); dir != "" && err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not in the PATH: install Slurm's commands on the machine of the bridge (apt-get "+
		"install slurm-client), or set path", name)
}

// submit runs sbatch. It passes the script on standard input and the environment in another file, so that no
// file is left behind and a user's variable cannot change the effect of sbatch.
func (c *commands) submit(ctx context.Context, r *request) (string, error) {
	env, err := pipeOf(strings.Join(r.env, "\x00") + "\x00")
	if err != nil {
		return "", err
	}
	defer env.Close()
	out, err := c.run(ctx, r.script, []*os.File{env}, "sbatch", r.options()...)
	if err != nil {
		return "", judge(err)
	}
	// With several clusters, the name of the cluster follows.
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";")
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return "", fmt.Errorf("%w: sbatch printed %q in place of a number", bridge.ErrUnsure, out)
	}
	return id, nil
}

// pipeOf returns a file that contains a text. It is a temporary file without a name, because a pipe would
// hold only 64K.
func pipeOf(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "fairlead-env-")
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(text)
	_, err2 := f.Seek(0, 0)
	if err := errors.Join(err, err2, os.Remove(f.Name())); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// options returns the options for sbatch. 3 is the first file after the standard ones.
func (r *request) options() []string {
	args := []string{"--parsable", "--export-file=3", "--ignore-pbs", "--nodes=1"}
	for _, o := range []struct {
		name, value string
	}{
		{"job-name", r.name}, {"comment", r.comment}, {"priority", fmt.Sprint(r.priority)}, {"uid", r.uid}, {"gid", r.gid},
		{"account", r.account}, {"partition", r.partition}, {"qos", r.qos}, {"chdir", r.dir}, {"output", r.output},
		{"error", r.errors},
		{"ntasks", fmt.Sprint(r.tasks)}, {"cpus-per-task", fmt.Sprint(r.cpus)}, {"gres", r.gres}, {"licenses", r.licenses},
		{"constraint", r.constraint}, {"mem", megabytes(r.memory)}, {"time", minutes(r.minutes)},
	} {
		if o.value != "" {
			args = append(args, "--"+o.name+"="+o.value)
		}
	}
	return append(append(args, "/dev/stdin"), r.args...)
}

func megabytes(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%dM", n)
}

func minutes(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// cancel ends jobs. It returns no error for jobs that are over.
func (c *commands) cancel(ctx context.Context, ids []string) error {
	_, err := c.run(ctx, nil, nil, "scancel", append([]string{"--quiet"}, ids...)...)
	var f *failure
	if errors.As(err, &f) && ctx.Err() == nil && strings.Contains(f.text, "nvalid job id") {
		return nil
	}
	return err
}
