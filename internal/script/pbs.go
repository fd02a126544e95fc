package script

import (
	"fmt"
	"strings"
)

var pbsSwitches = map[string]bool{"h": true, "V": true, "z": true, "I": true}

// pbs reads a #PBS line.
func (d *Directives) pbs(words []string, number int) error {
	opts, err := options(words, func(name string) bool { return !pbsSwitches[name] })
	if err != nil {
		return err
	}
	for _, o := range opts {
		if err := d.pbsOption(o, number); err != nil {
			return fmt.Errorf("#PBS %s: %w", o.text, err)
		}
	}
	return nil
}

func (d *Directives) pbsOption(o option, number int) error {
	switch o.name {
	case "N":
		d.put(number, "name", o.value)
	case "A", "P":
		d.put(number, "pool", o.value)
	case "J", "t":
		d.put(number, "array", o.value)
	case "o", "e":
		path := o.value[strings.IndexByte(o.value, ':')+1:] // HOST:PATH
		d.put(number, map[string]string{"o": "output", "e": "error"}[o.name], path)
	case "h":
		d.put(number, "hold", "true")
	case "V":
		d.set(number, "export", "ALL")
	case "v":
		d.set(number, "export", o.value)
	case "l":
		return d.pbsResources(o, number)
	case "W":
		return d.pbsDepend(o, number)
	case "j", "z": // both outputs go to one file unless they are named
	default:
		d.ignore(number, o, "")
	}
	return nil
}

// pbsResources reads -l walltime=1:00:00,mem=4gb and -l select=1:ncpus=4:mem=4gb and -l nodes=1:ppn=4.
func (d *Directives) pbsResources(o option, number int) error {
	for item := range strings.SplitSeq(o.value, ",") {
		name, value, _ := strings.Cut(item, "=")
		if name == "select" || name == "nodes" {
			count, rest, _ := strings.Cut(value, ":")
			if err := d.chunks(name, count, option{text: "-l " + item}, number); err != nil {
				return err
			}
			for part := range strings.SplitSeq(rest, ":") {
				if err := d.pbsResource(part, number); err != nil {
					return err
				}
			}
			continue
		}
		if err := d.pbsResource(item, number); err != nil {
			return err
		}
	}
	return nil
}

func (d *Directives) pbsResource(item string, number int) error {
	if item == "" {
		return nil
	}
	name, value, _ := strings.Cut(item, "=")
	switch name {
	case "walltime":
		d.put(number, "time", value)
	case "mem", "pmem", "vmem":
		d.put(number, "mem", strings.TrimSuffix(strings.ToUpper(value), "B"))
	case "ncpus", "ppn":
		return d.count(number, "cpus", value)
	case "ngpus", "gpus":
		d.gpus(number, value, gpusOfNode)
	case "mpiprocs", "ompthreads":
	default:
		d.ignore(number, option{text: "-l " + item}, "")
	}
	return nil
}

// pbsDepend reads -W depend=afterok:12.
func (d *Directives) pbsDepend(o option, number int) error {
	value, ok := strings.CutPrefix(o.value, "depend=")
	if !ok {
		d.ignore(number, o, "")
		return nil
	}
	return d.dependency(option{value: value, text: o.text}, number)
}
