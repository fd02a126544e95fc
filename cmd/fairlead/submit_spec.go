package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/script"
	"github.com/fairlead/fairlead/internal/submit"
)

// submission is a submit command with its flags.
type submission struct {
	*app
	options                      submit.Options
	unsatisfiable                bool
	wait, parsable, dryRun, json bool
	wrap, as                     string
}

// spec builds the job from the arguments, the script and the flags.
func (s *submission) spec(c *cobra.Command, args []string) (*api.Spec, error) {
	o := &s.options
	o.Environ = os.Environ()
	if !filepath.IsAbs(o.Dir) {
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		o.Base = dir
	}
	var spec *api.Spec
	var notes []string
	var err error
	switch {
	case s.wrap != "" && len(args) > 0:
		return nil, usagef("give either --wrap or a command, not both")
	case s.wrap != "":
		if o.Name == "" {
			o.Name = "wrap"
		}
		spec, notes, err = o.Command([]string{"/bin/sh", "-c", s.wrap})
	case len(args) == 0:
		return nil, usagef("nothing to run: name a script, or a command after --")
	case c.ArgsLenAtDash() == 0:
		spec, notes, err = o.Command(args)
	default:
		text, failed := s.scriptText(args[0])
		if failed != nil {
			return nil, failed
		}
		spec, notes, err = o.Script(args[0], text, args)
	}
	for _, line := range notes {
		fmt.Fprintln(s.errs, line)
	}
	if err != nil {
		return nil, usageError{err}
	}
	return spec, nil
}

func (s *submission) scriptText(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(s.in, script.MaxSize+1))
	}
	f, err := os.Open(name)
	if err != nil {
		hint := ""
		if !strings.Contains(name, "/") {
			hint = fmt.Sprintf("; to run a program: fairlead submit -- %s", name)
		}
		return nil, usagef("%w%s", err, hint)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, script.MaxSize+1))
}
