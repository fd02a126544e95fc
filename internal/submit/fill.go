package submit

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/environ"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
)

// fill sets the fields of the job from the options.
func (o *Options) fill(spec *api.Spec) error {
	if _, _, err := queue.ParseArray(o.Array); err != nil {
		return err
	}
	spec.Name, spec.Pool, spec.Kind, spec.Priority = o.Name, o.Pool, o.Kind, o.Priority
	spec.Array, spec.MaxRunning, spec.Held, spec.Key = o.Array, o.MaxRunning, o.Hold, o.Key
	spec.Requestor, spec.Retries = o.Requestor, o.Retries
	spec.QOS, spec.Nice = o.QOS, o.Nice
	spec.Output, spec.Error = o.Output, o.Error
	for _, set := range []func(*api.Spec) error{
		o.fillDir, o.fillGang, o.fillRequest, o.fillLicenses, o.fillTimes, o.fillAfter,
	} {
		if err := set(spec); err != nil {
			return err
		}
	}
	o.fillEnv(spec)
	return nil
}

// fillDir sets the working directory.
func (o *Options) fillDir(spec *api.Spec) error {
	switch {
	case filepath.IsAbs(o.Dir):
		spec.Dir = filepath.Clean(o.Dir)
	case o.Base != "":
		spec.Dir = filepath.Join(o.Base, o.Dir)
	case o.Dir != "":
		return wrong("chdir", "%q is not an absolute path, such as /home/ann/run", o.Dir)
	}
	return nil
}

// fillGang sets how many tasks start at the same moment.
func (o *Options) fillGang(spec *api.Spec) error {
	switch {
	case o.Nodes > 0 && o.Tasks > 0:
		return fmt.Errorf("give either --nodes (one task on each node) or --tasks (on any nodes), not both; "+
			"for several processes on each of %d nodes: --nodes %d --cpus %d",
			o.Nodes, o.Nodes, (o.Tasks+o.Nodes-1)/o.Nodes)
	case o.Nodes+o.Tasks > 1 && o.Array != "":
		return errors.New("give either --array (tasks start one by one) or --nodes or --tasks (all start at once), " +
			"not both; submit a separate job for each gang")
	}
	spec.Gang, spec.Spread = max(o.Nodes, o.Tasks), o.Nodes > 0
	return nil
}

func (o *Options) fillTimes(spec *api.Spec) error {
	if o.Limit != "" {
		d, err := units.ParseTimeLimit(o.Limit)
		if err != nil {
			return wrong("time", "%w", err)
		}
		if d == 0 {
			d = queue.NoLimit
		}
		spec.LimitSeconds = d.Seconds()
	}
	if o.Backoff != "" {
		d, err := units.ParseDuration(o.Backoff)
		if err != nil {
			return wrong("backoff", "%w", err)
		}
		spec.BackoffSeconds = d.Seconds()
	}
	if o.Begin != "" {
		t, err := units.ParseInstant(o.Begin, time.Now())
		if err != nil {
			return wrong("begin", "%w", err)
		}
		spec.Begin = &t
	}
	return nil
}

func (o *Options) fillAfter(spec *api.Spec) error {
	for _, text := range o.After {
		on, id, found := strings.Cut(text, ":")
		if !found {
			on, id = "ok", text
		}
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n < 1 || on != "ok" && on != "any" && on != "failed" {
			return wrong("after", "%q is not a dependency: expected 12, ok:12, failed:12 or any:12", text)
		}
		spec.After = append(spec.After, api.After{Job: n, On: on})
	}
	return nil
}

// passed are the variables that a job gets if the submitter does not choose.
var passed = []string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"}

// fillEnv sets the variables of the job.
func (o *Options) fillEnv(spec *api.Spec) {
	mine := map[string]string{}
	for _, e := range o.Environ {
		if name, value, ok := strings.Cut(e, "="); ok && name != "" {
			mine[name] = value
		}
	}
	pass := func(name string) {
		if v, ok := mine[name]; ok {
			spec.Env[name] = v
		}
	}
	if o.Export == "" {
		for _, name := range passed {
			pass(name)
		}
		return
	}
	for item := range strings.SplitSeq(o.Export, ",") {
		name, value, set := strings.Cut(item, "=")
		switch {
		case item == "ALL":
			for name := range mine {
				if name != environ.Trail { // a job that submits another must not pass on its own trail
					pass(name)
				}
			}
		case item == "NONE", item == "":
		case set:
			spec.Env[name] = value
		default:
			pass(name)
		}
	}
}
