package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/foreign"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/policy"
)

// importing are the flags of config import.
type importing struct {
	from, output string
	capacity     map[string]string
	strict, json bool
}

func (a *app) configImportCommand() *cobra.Command {
	var i importing
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Make a configuration of Hadoop's or Slurm's",
		Long: `Make a configuration of the allocation file of Hadoop's fair scheduler, the first one or
YARN's (fair-scheduler.xml), or of the accounts of Slurm (sacctmgr dump CLUSTER file=FILE).
What kind of file it is shows in its text.

The configuration goes to standard output. Standard error tells, with lines of the source,
what means something else here and what could not be taken over, why, and what to do
instead; and how much of it was. A configuration of fairlead is written in its canonical
form, with all defaults filled in. It needs no server.`,
		Example: `  fairlead config import fair-scheduler.xml -o fairlead.yaml
  fairlead config import fair-scheduler.xml --capacity cpu=400,mem=1600G > fairlead.yaml
  sacctmgr dump harbour file=harbour.cfg; fairlead config import harbour.cfg --strict`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.importFile(&i, args[0]) },
	}
	f := c.Flags()
	f.StringVar(&i.from, "from", "", "kind of the file: hadoop, slurm or fairlead (default: by its text)")
	f.StringVarP(&i.output, "output", "o", "", "write the configuration to this file, which must not be there yet")
	f.StringToStringVar(&i.capacity, "capacity", nil, "what there is, for percentages of it, e.g. cpu=100,mem=400G")
	f.BoolVar(&i.strict, "strict", false, "exit with 2 if something could not be taken over")
	f.BoolVar(&i.json, "json", false, "print the configuration and the report as JSON")
	return c
}

// imported is what config import prints as JSON.
type imported struct {
	Version  int             `json:"version"`
	File     string          `json:"file"`
	From     string          `json:"from"`
	Taken    int             `json:"taken"`
	Changed  int             `json:"changed"`
	Needless int             `json:"needless"`
	Left     int             `json:"left"`
	Items    []foreign.Item  `json:"items"`
	Problems config.Problems `json:"problems"` // warnings of config check
	Config   string          `json:"config"`
}

func (a *app) importFile(i *importing, file string) error {
	text, err := a.readSource(file)
	if err != nil {
		return usageError{err}
	}
	r, err := i.read(file, text)
	if err != nil {
		return err
	}
	name := file // of what is checked, as problems name its lines
	if i.output != "" {
		name = i.output
	} else if r.From != foreign.Fairlead {
		name = "the configuration"
	}
	cfg, err := config.Parse(name, r.YAML)
	var problems config.Problems
	switch {
	case errors.As(err, &problems):
		fmt.Fprint(a.errs, problems.Text())
		return usagef("%s: what was made of it is not a configuration: see above, and change the source", file)
	case err != nil:
		return err
	}
	if r.From == foreign.Fairlead {
		r.YAML = cfg.YAML()
	}
	if i.output != "" {
		if err := writeNew(i.output, r.YAML); err != nil {
			return usageError{err}
		}
	}
	if err := a.printImport(i, file, r, cfg.Problems); err != nil {
		return err
	}
	if i.strict && r.Count(foreign.Left) > 0 {
		return exit(api.ExitUsage)
	}
	return nil
}

// readSource reads the file to import, but no more than is needed to see that it is too
// large.
func (a *app) readSource(file string) ([]byte, error) {
	in := a.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, foreign.MaxSize+1))
}

func (i *importing) read(file string, text []byte) (*foreign.Result, error) {
	known := []string{foreign.Hadoop, foreign.Slurm, foreign.Fairlead}
	if i.from != "" && !slices.Contains(known, i.from) {
		return nil, usagef("--from %q is no kind of file; known: %s", i.from, strings.Join(known, ", "))
	}
	from := i.from
	if from == "" {
		from = foreign.Detect(text)
	}
	if from == foreign.Fairlead {
		return &foreign.Result{From: from, YAML: text}, nil
	}
	can := features()
	for name, value := range i.capacity {
		n, err := units.ParseSize(value)
		if err != nil {
			return nil, usagef("--capacity %s: %w", name, err)
		}
		if can.Capacity == nil {
			can.Capacity = map[string]int64{}
		}
		can.Capacity[name] = n
	}
	r, err := foreign.Read(file, from, text, can)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", file, err)}
	}
	return r, nil
}

// features are what configurations may use. They are found by trying, so that an import
// never writes what the same program would refuse to read.
func features() foreign.Features {
	can := foreign.Features{Policies: map[string]bool{}}
	for _, name := range policy.Names() {
		can.Policies[name] = true
	}
	reads := func(text string) bool {
		_, err := config.Parse("", []byte(text))
		return err == nil
	}
	can.ZeroWeight = reads("policy: fairtree\npools: {a: {weight: 0}}")
	can.Reclaim = reads("reclaim: {share_after: 1m, below: 50%}\npools: {a: {min: {cpu: 1}, reclaim: {min_after: off, protect: true}}}")
	return can
}

// writeNew writes a file that is not there yet.
func writeNew(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; move it away, or name another file", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func (a *app) printImport(i *importing, file string, r *foreign.Result, problems config.Problems) error {
	if i.json {
		return a.printJSON(imported{
			Version: api.Version, File: file, From: r.From,
			Taken: r.Count(foreign.Taken), Changed: r.Count(foreign.Changed), Needless: r.Count(foreign.Needless), Left: r.Count(foreign.Left),
			Items: append([]foreign.Item{}, r.Items...), Problems: append(config.Problems{}, problems...), Config: string(r.YAML),
		})
	}
	fmt.Fprint(a.errs, r.Text(file), problems.Text())
	if i.output != "" {
		fmt.Fprintf(a.errs, "written to %s; next: fairlead config check %[1]s, then fairlead serve --config %[1]s\n", i.output)
		return nil
	}
	_, err := a.document().Write(r.YAML)
	return err
}
