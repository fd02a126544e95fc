package submit

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/share"
)

// fillRequest sets the resources of a task, and the requirements on its nodes.
func (o *Options) fillRequest(spec *api.Spec) error {
	spec.Request = map[string]int64{}
	for name, n := range o.Request {
		spec.Request[name] = int64(n)
	}
	if o.CPUs < 0 {
		return fmt.Errorf("--cpus %d: a task needs at least one processor", o.CPUs)
	}
	if o.CPUs > 0 {
		spec.Request["cpu"] = int64(o.CPUs)
	}
	if err := AddGPUs(spec.Request, o.GPUs); err != nil {
		return err
	}
	if _, err := cluster.ParseConstraint(o.Constraint); err != nil {
		return wrong("constraint", "%w", Pictured(err))
	}
	spec.Constraint, spec.Reservation = o.Constraint, o.Reservation
	flag, per, size := "mem", int64(1), o.Mem
	if o.MemPerCPU != "" && o.Mem == "" {
		flag, per, size = "mem-per-cpu", int64(max(1, o.CPUs)), o.MemPerCPU
	}
	if size == "" {
		return nil
	}
	n, err := units.ParseSize(size)
	if err != nil {
		return wrong(flag, "%w", err)
	}
	if n > math.MaxInt64/per {
		return wrong(flag, "%s for each of %d processors is too large", size, per)
	}
	spec.Request["mem"] = n * per
	return nil
}

// fillLicenses sets the licenses and the rates of a task.
func (o *Options) fillLicenses(spec *api.Spec) (err error) {
	spec.Rates = o.Rates
	spec.Licenses, err = Licenses(o.Licenses)
	return err
}

// Licenses parses licenses such as matlab:2, in the notation of sbatch; a name alone means one. It returns nil if
// there are none.
func Licenses(texts []string) (map[string]int64, error) {
	var all map[string]int64
	for _, text := range texts {
		name, count, found := strings.Cut(text, ":")
		if !found {
			count = "1"
		}
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 1 || name == "" {
			return nil, wrong("licenses", "%q is not a license with a number, such as matlab:1", text)
		}
		if all == nil {
			all = map[string]int64{}
		}
		if _, twice := all[name]; twice {
			return nil, wrong("licenses", "%s is given twice; give its number once, e.g. %s:2", name, name)
		}
		all[name] = n
	}
	return all, nil
}

// maxGPUs limits one number of GPUs, so that sums do not overflow.
const maxGPUs = 1 << 40

// AddGPUs adds GPUs in the notation for agents and jobs: 2, or a100:2.
func AddGPUs(to map[string]int64, gpus []string) error {
	for _, text := range gpus {
		resource, count := "gpu", text
		if kind, n, typed := strings.Cut(text, ":"); typed {
			resource, count = "gpu:"+kind, n
		}
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 0 || n > maxGPUs || share.CheckResource(resource) != nil {
			return wrong("gpus", "%q: expected a number of GPUs, such as 2, or a type and a number, such as a100:2", text)
		}
		to[resource] += n // this may set 0, which differs from no entry: shares may be counted in GPUs
	}
	return nil
}

// Pictured adds a mark at the place of an error in a constraint.
func Pictured(err error) error {
	var e *cluster.ConstraintError
	if !errors.As(err, &e) || len(e.Text) > 100 {
		return err
	}
	before := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, e.Text[:e.At])
	return fmt.Errorf("%s\n  %s\n  %s^", e.Message, e.Text, before)
}
