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

// importing holds the flags of config import.
type importing struct {
	from, output string
	capacity     map[string]string
	strict, json bool
}

func configImportCommand(a *app) *cobra.Command {
	var i importing
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Convert a configuration of Hadoop or Slurm",
		Long: `Convert the allocation file of Hadoop's fair scheduler, of version 1 or of YARN
(fair-scheduler.xml), or the accounts of Slurm (sacctmgr dump CLUSTER file=FILE). The format
of the file is recognized by its text.

The configuration goes to standard output. Standard error lists the settings that mean
something else here and the settings that could not be converted, each with its line, the reason
and an alternative, and counts the converted settings. FILE may also be a configuration of
fairlead: then the output is the same configuration in its canonical form, with all defaults.
The command needs no server.`,
		Example: `  fairlead config import fair-scheduler.xml -o fairlead.yaml
  fairlead config import fair-scheduler.xml --capacity cpu=400,mem=1600G > fairlead.yaml
  sacctmgr dump harbour file=harbour.cfg; fairlead config import harbour.cfg --strict`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return importFile(a, &i, args[0]) },
	}
	f := c.Flags()
	f.StringVar(&i.from, "from", "", "format of the file: hadoop, slurm or fairlead (default: recognized by its text)")
	f.StringVarP(&i.output, "output", "o", "", "write the configuration to this file, which must not exist yet")
	f.StringToStringVar(&i.capacity, "capacity", nil, "capacity of the cluster, for percentages of it, e.g. cpu=100,mem=400G")
	f.BoolVar(&i.strict, "strict", false, "exit with 2 if a setting could not be converted")
	f.BoolVar(&i.json, "json", false, "print the configuration and the report as JSON")
	return c
}

// imported is the JSON output of config import.
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

func importFile(a *app, i *importing, file string) error {
	text, err := readSource(a, file)
	if err != nil {
		return usageError{err}
	}
	r, err := i.read(file, text)
	if err != nil {
		return err
	}
	name := file // name of the checked text, for problems with line numbers
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
		return usagef("%s: this is not a valid configuration; fix the errors above, or choose the format with --from", file)
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
	if err := printImport(a, i, file, r, cfg.Problems); err != nil {
		return err
	}
	if i.strict && r.Count(foreign.Left) > 0 {
		return exit(api.ExitUsage)
	}
	return nil
}

// readSource reads the file to import, but only one byte more than the maximum size.
func readSource(a *app, file string) ([]byte, error) {
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
		return nil, usagef("--from: unknown format %q; known: %s", i.from, strings.Join(known, ", "))
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

// features returns the features that configurations may use. It finds some by trying, so that an import never
// writes a configuration that the same program would refuse.
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

// writeNew writes a file that does not exist yet.
func writeNew(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; move it away, or name another file", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func printImport(a *app, i *importing, file string, r *foreign.Result, problems config.Problems) error {
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
