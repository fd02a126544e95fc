package script

import (
	"fmt"
	"strconv"
	"strings"
)

// sbatchSame are the options with the meaning of a flag of submit.
var sbatchSame = map[string]string{
	"job-name": "name", "time": "time", "account": "pool", "array": "array", "begin": "begin", "output": "output",
	"error": "error", "chdir": "chdir", "export": "export", "licenses": "licenses",
	"reservation": "reservation",
}

// sbatchSilent are the options that have no effect here and need no note.
var sbatchSilent = map[string]bool{"quiet": true, "verbose": true, "parsable": true, "no-requeue": true,
	"get-user-env": true}

// sbatch reads a #SBATCH line.
func (d *Directives) sbatch(words []string, number int) error {
	return d.sbatchWords(words, number, "#SBATCH ")
}

// sbatchWords reads options of sbatch. Errors begin with the prefix.
func (d *Directives) sbatchWords(words []string, number int, prefix string) error {
	takes := func(name string) bool {
		long, err := sbatchName(name)
		return err == nil && sbatchNames[long]
	}
	opts, err := options(words, takes)
	if err != nil {
		return err
	}
	for _, o := range opts {
		if o.name, err = sbatchName(o.name); err == nil {
			err = d.sbatchOption(o, number)
		}
		if err != nil {
			return fmt.Errorf("%s%s: %w", prefix, o.text, err)
		}
	}
	return nil
}

func (d *Directives) sbatchOption(o option, number int) error {
	if flag, same := sbatchSame[o.name]; same {
		d.put(number, flag, o.value)
		return nil
	}
	switch o.name {
	case "hold":
		d.put(number, "hold", "true")
	case "cpus-per-task":
		return d.count(number, "cpus", o.value)
	case "ntasks":
		return d.layout.set(&d.layout.processes, o, number)
	case "ntasks-per-node":
		return d.layout.set(&d.layout.perNode, o, number)
	case "mem", "mem-per-cpu":
		d.memory(o, number)
	case "gpus":
		d.gpus(number, o.value, gpusOfJob)
	case "gpus-per-node":
		d.gpus(number, o.value, gpusOfNode)
	case "gpus-per-task":
		d.gpus(number, o.value, gpusOfProcess)
	case "constraint":
		return d.constraint(o, number)
	case "gres":
		return d.gres(o, number)
	case "dependency":
		return d.dependency(o, number)
	case "requeue":
		d.ignore(number, o, "a task whose node is lost always runs again")
	case "nodes":
		return d.nodes(o, number)
	default:
		if !sbatchSilent[o.name] {
			d.ignore(number, o, "")
		}
	}
	return nil
}

// megabytes adds sbatch's default unit to a size without a unit.
func megabytes(size string) string {
	if _, err := strconv.Atoi(size); err == nil {
		return size + "M"
	}
	return size
}

// gres reads --gres=gpu:2 and --gres=gpu:a100:2.
func (d *Directives) gres(o option, number int) error {
	var gpus []string
	for item := range strings.SplitSeq(o.value, ",") {
		parts := strings.Split(item, ":")
		count := "1"
		if last := parts[len(parts)-1]; len(parts) > 1 && last != "" && last[0] >= '0' && last[0] <= '9' {
			count = last
		}
		if parts[0] != "gpu" {
			d.ignore(number, o, "only gpu is known")
			continue
		}
		if len(parts) == 3 || len(parts) == 2 && parts[1] != count {
			count = parts[1] + ":" + count
		}
		gpus = append(gpus, count)
	}
	if len(gpus) > 0 {
		d.gpus(number, strings.Join(gpus, ","), gpusOfNode)
	}
	return nil
}

// gpus sets the GPUs. A script may set them in several ways; the last one counts.
func (d *Directives) gpus(number int, value string, of gpusOf) {
	d.layout.gpusOf, d.layout.line = of, number
	d.drop("gpus")
	d.set(number, "gpus", value)
}

// memory sets the memory of a node or of a CPU. The two exclude each other: the last one counts.
func (d *Directives) memory(o option, number int) {
	d.drop("mem")
	d.drop("mem-per-cpu")
	if strings.Trim(strings.TrimRight(o.value, "KMGTkmgt"), "0") == "" {
		d.ignore(number, o, "all memory of a node cannot be asked for: name how much the job needs")
		return
	}
	d.set(number, o.name, megabytes(o.value))
}

// constraint reads --constraint=intel&ssd. A feature is a label here. The other operators of sbatch besides &
// and | are about several nodes.
func (d *Directives) constraint(o option, number int) error {
	if strings.ContainsAny(o.value, "[]()*,") {
		d.ignore(number, o, "only names with & and | are read; see constraints")
		return nil
	}
	d.set(number, "constraint", o.value)
	return nil
}

// dependency reads afterok:1:2,afterany:3.
func (d *Directives) dependency(o option, number int) error {
	d.drop("after")
	kinds := map[string]string{"afterok": "ok", "afterany": "any", "afternotok": "failed"}
	for item := range strings.SplitSeq(o.value, ",") {
		parts := strings.Split(item, ":")
		on, known := kinds[parts[0]]
		if !known || len(parts) < 2 {
			d.ignore(number, o, "afterok, afterany and afternotok are known")
			continue
		}
		for _, job := range parts[1:] {
			d.set(number, "after", on+":"+strings.TrimSuffix(job, "+0"))
		}
	}
	return nil
}
