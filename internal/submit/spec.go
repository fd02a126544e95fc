package submit

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/environ"
	"github.com/fairlead/fairlead/internal/script"
	"github.com/fairlead/fairlead/queue"
)

// Command describes a job that runs a command. The notes say which options of sbatch have no effect.
func (o *Options) Command(argv []string) (spec *api.Spec, notes []string, err error) {
	spec = &api.Spec{Argv: argv, Env: map[string]string{}}
	if len(o.sbatch) > 0 {
		d, err := script.Options(o.sbatchWords()...)
		if err != nil {
			return nil, nil, err
		}
		if notes, err = o.follow(spec, "", d); err != nil {
			return nil, nil, err
		}
	} else {
		o.settleMaxRunning(nil)
	}
	return spec, notes, o.complete(spec)
}

// Script describes a job that runs a script. The argument "name" is the name of the script in errors and notes. The
// argument "argv" holds the name under which the script runs, and its arguments. The options override the directives of
// the script. The notes say which directives have no effect.
func (o *Options) Script(name string, text []byte, argv []string) (spec *api.Spec, notes []string, err error) {
	d, err := script.Parse(text, o.sbatchWords()...)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	spec = &api.Spec{Argv: argv, Payload: text, Script: true, Env: map[string]string{}}
	if notes, err = o.follow(spec, name, d); err != nil {
		return nil, nil, err
	}
	return spec, notes, o.complete(spec)
}

// complete checks the numbers, names the job, and fills in the other fields.
func (o *Options) complete(spec *api.Spec) error {
	if o.given("cpus") && o.CPUs == 0 {
		return fmt.Errorf("--cpus 0: a task needs at least one processor")
	}
	for flag, n := range map[string]int{"nodes": o.Nodes, "tasks": o.Tasks} {
		if n < 1 && o.given(flag) {
			return fmt.Errorf("--%s %d: must be at least 1", flag, n)
		}
	}
	if o.Name == "" {
		o.Name = nameOf(filepath.Base(spec.Argv[0]))
	}
	return o.fill(spec)
}

// nameOf shortens a word to the length that the name of a job may have.
func nameOf(word string) string {
	for len(word) > queue.MaxName {
		_, size := utf8.DecodeLastRuneInString(word)
		word = word[:len(word)-size]
	}
	return word
}

// Line describes a job that runs a line of text in a shell. The name of the job is the first word of the line.
func (o *Options) Line(text string) (spec *api.Spec, notes []string, err error) {
	if first := strings.Fields(text); o.Name == "" && len(first) > 0 {
		o.Name = nameOf(first[0])
	}
	return o.Command([]string{"/bin/sh", "-c", text})
}

// follow sets the flags that directives ask for. Flags that were given override them. The argument "name" is the name
// of the script.
func (o *Options) follow(spec *api.Spec, name string, d *script.Directives) (notes []string, err error) {
	place := func(line int) string {
		if line == 0 {
			return ""
		}
		return fmt.Sprintf("%s:%d: ", name, line)
	}
	changed := map[string]bool{}
	gang := o.given("nodes") || o.given("tasks")
	for _, f := range d.Flags {
		if o.given(f.Name) && !changed[f.Name] || gang && (f.Name == "nodes" || f.Name == "tasks") {
			continue // the given flag overrides the script
		}
		if err := o.flags.Set(f.Name, f.Value); err != nil {
			return nil, fmt.Errorf("%s--%s %s: %w", place(f.Line), f.Name, f.Value, err)
		}
		changed[f.Name] = true
	}
	o.settleMaxRunning(changed)
	said := func(what string, all []script.Ignored) {
		for _, i := range all {
			line := fmt.Sprintf("%s: %s", what, i)
			if i.Line > 0 {
				line = name + ": " + line
			}
			notes = append(notes, line)
		}
	}
	said("note", d.Notes)
	said("ignored", d.Ignored)
	if d.Compat != "" {
		spec.Env[environ.Compat] = d.Compat
	}
	if d.Processes > 0 {
		spec.Env[environ.Processes] = strconv.Itoa(d.Processes)
	}
	return notes, nil
}
