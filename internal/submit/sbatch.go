package submit

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/internal/script"
)

// sbatchWords returns the options of sbatch among the flags. The number of nodes is one of them, because the
// number of processes on each node follows from it.
func (o *Options) sbatchWords() []string {
	if len(o.sbatch) > 0 && o.given("nodes") && o.Nodes > 0 {
		return append([]string{fmt.Sprint("--nodes=", o.Nodes)}, o.sbatch...)
	}
	return o.sbatch
}

// sbatchFlag is an option of sbatch on the command line of submit.
type sbatchFlag struct {
	words *[]string
	name  string
	value bool // it needs a value
}

func (f *sbatchFlag) String() string { return "" }

func (f *sbatchFlag) Type() string { return "string" }

func (f *sbatchFlag) Set(value string) error {
	word := "--" + f.name
	if f.value || value != "true" {
		word += "=" + value
	}
	*f.words = append(*f.words, word)
	return nil
}

// AddSbatchFlags adds the long options of sbatch that are not flags of the set yet. Help texts do not show them.
func (o *Options) AddSbatchFlags(f *pflag.FlagSet) {
	for name, value := range script.SbatchOptions() {
		if f.Lookup(name) != nil || name == "help" || name == "version" || name == "usage" {
			continue
		}
		flag := f.VarPF(&sbatchFlag{&o.sbatch, name, value}, name, "", "option of sbatch")
		flag.Hidden = true
		if !value {
			flag.NoOptDefVal = "true"
		}
	}
}
