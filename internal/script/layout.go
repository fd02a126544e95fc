package script

import (
	"fmt"
	"strconv"
	"strings"
)

// nodes reads --nodes=4 and --nodes=2-4.
func (d *Directives) nodes(o option, number int) error {
	least, _, ranged := strings.Cut(o.value, "-")
	if err := d.layout.set(&d.layout.nodes, option{value: least}, number); err != nil {
		return err
	}
	if ranged && o.value != least+"-"+least {
		d.note(number, o, "it gets the smaller number of nodes")
	}
	return nil
}

// chunks reads how many nodes or chunks PBS must give. Nodes are distinct; several chunks may be on one node.
func (d *Directives) chunks(what, count string, o option, number int) error {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		d.ignore(number, o, "names of nodes and properties: use --constraint")
		return nil
	}
	if n > 1 {
		d.put(number, map[string]string{"nodes": "nodes", "select": "tasks"}[what], count)
		d.note(number, o, fmt.Sprintf(onEach, n, "PBS"))
	}
	return nil
}

// onEach is the most important difference for scripts from other systems.
const onEach = "the script runs %d times at once, and under %s on the first node only: put commands that run once where FAIRLEAD_RANK is 0"

// layOut turns the layout into flags, after the whole script was read.
func (d *Directives) layOut() {
	l := &d.layout
	if l.nodes == 0 && l.processes > l.perNode && l.perNode > 0 {
		l.nodes = up(l.processes, l.perNode)
	}
	nodes := max(1, l.nodes)
	each := l.perNode
	if each == 0 {
		each = up(l.processes, nodes)
	}
	if each > 0 {
		d.Processes = each
		d.multiply(l.line, "cpus", each)
	}
	for i := range d.Flags {
		if f := &d.Flags[i]; f.Name == "gpus" && l.gpusOf == gpusOfProcess {
			f.Value = scaled(f.Value, func(n int) int { return n * max(1, each) })
		}
	}
	if nodes == 1 {
		return
	}
	d.set(l.line, "nodes", strconv.Itoa(nodes))
	d.note(l.line, option{text: fmt.Sprintf("%d nodes", nodes)}, fmt.Sprintf(onEach, nodes, "Slurm"))
	for i := range d.Flags {
		f := &d.Flags[i]
		switch {
		case f.Name == "gpus" && l.gpusOf == gpusOfJob:
			f.Value = scaled(f.Value, func(n int) int { return up(n, nodes) })
		case f.Name == "licenses":
			d.note(f.Line, option{text: "--licenses " + f.Value}, "the task on each node holds them")
		}
	}
}

// multiply multiplies a count, which is 1 by default: ntasks 4 with cpus-per-task 2 gives 8 cpus on one node.
func (d *Directives) multiply(number int, flag string, by int) {
	for i := range d.Flags {
		if d.Flags[i].Name == flag {
			before, _ := strconv.Atoi(d.Flags[i].Value)
			d.Flags[i].Value = strconv.Itoa(before * by)
			return
		}
	}
	d.set(number, flag, strconv.Itoa(by))
}

// up returns a / b, rounded up.
func up(a, b int) int { return (a + b - 1) / b }

// scaled changes numbers of GPUs, such as 8 or a100:4,h100:4; a type without a number means one GPU.
func scaled(gpus string, to func(int) int) string {
	items := strings.Split(gpus, ",")
	for i, item := range items {
		at := strings.LastIndexByte(item, ':') + 1
		if n, err := strconv.Atoi(item[at:]); err == nil {
			items[i] = item[:at] + strconv.Itoa(to(n))
		} else if at == 0 && item != "" {
			items[i] = item + ":" + strconv.Itoa(to(1))
		}
	}
	return strings.Join(items, ",")
}
