package script

import (
	"fmt"
	"slices"
	"strconv"
)

// layout says how a script for another system spreads its processes over nodes. A task here runs on one
// node. That node has all processes of the script, with all their CPUs.
type layout struct {
	nodes     int // 0 and 1: one node
	processes int // in all; 0: unset
	perNode   int // processes on each node; 0: unset
	line      int // last line that set any of these
	gpusOf    gpusOf
}

// gpusOf says whether a script's number of GPUs is per node, per process or for the whole job.
type gpusOf int

const (
	gpusOfNode gpusOf = iota
	gpusOfProcess
	gpusOfJob
)

func (l *layout) set(n *int, o option, line int) (err error) {
	l.line = line
	*n, err = strconv.Atoi(o.value)
	if err != nil || *n < 1 {
		return fmt.Errorf("%q is not a number above 0", o.value)
	}
	return nil
}

func (d *Directives) note(number int, o option, text string) {
	d.Notes = append(d.Notes, Ignored{number, o.text, text})
}

func (d *Directives) set(number int, name, value string) {
	d.Flags = append(d.Flags, Flag{name, value, number})
}

// put sets a flag that counts once, and replaces an earlier value: if an option occurs twice, the last one
// counts, as with sbatch and qsub.
func (d *Directives) put(number int, name, value string) {
	for i := range d.Flags {
		if d.Flags[i].Name == name {
			d.Flags[i].Value, d.Flags[i].Line = value, number
			return
		}
	}
	d.set(number, name, value)
}

// drop unsets a flag.
func (d *Directives) drop(name string) {
	d.Flags = slices.DeleteFunc(d.Flags, func(f Flag) bool { return f.Name == name })
}

// count sets a flag whose value is a number above 0.
func (d *Directives) count(number int, flag, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return fmt.Errorf("%q is not a number above 0", value)
	}
	d.put(number, flag, strconv.Itoa(n))
	return nil
}

func (d *Directives) ignore(number int, o option, why string) {
	d.Ignored = append(d.Ignored, Ignored{number, o.text, why})
}

// Flag is one flag of fairlead submit. Name is its long name.
type Flag struct {
	Name, Value string
	Line        int // of the script; 0: from the command line
}

// Directives are the requests of a script.
type Directives struct {
	Flags   []Flag
	Ignored []Ignored
	Notes   []Ignored // directives that are followed with a difference
	Compat  string    // slurm or pbs, if there are directives for that system
	// Processes is how many processes a task starts, by --ntasks; 0: unset.
	Processes int

	layout layout
}

// Ignored is a directive that has no effect here.
type Ignored struct {
	Line int // 0: from the command line
	Text string
	Why  string
}

func (i Ignored) String() string {
	text := i.Text
	if i.Line > 0 {
		text = fmt.Sprintf("line %d: %s", i.Line, i.Text)
	}
	if i.Why != "" {
		text += " (" + i.Why + ")"
	}
	return text
}
