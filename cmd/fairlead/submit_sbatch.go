package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/internal/script"
)

// spread is how the processes of a job are spread over nodes.
type spread struct {
	nodes, tasks int
	sbatch       []string // options of sbatch that are no flags of submit
}

// sbatchWords returns the options of sbatch on the command line. The number of nodes is one of them, because the
// number of processes on each node follows from it.
func (s *spread) sbatchWords(c *cobra.Command) []string {
	if len(s.sbatch) > 0 && c.Flags().Changed("nodes") && s.nodes > 0 {
		return append([]string{fmt.Sprint("--nodes=", s.nodes)}, s.sbatch...)
	}
	return s.sbatch
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

// addSbatchFlags lets submit take the long options of sbatch that are no flags of its own.
func (s *spread) addSbatchFlags(f *pflag.FlagSet) {
	for name, value := range script.SbatchOptions() {
		if f.Lookup(name) != nil || name == "help" || name == "version" || name == "usage" {
			continue
		}
		flag := f.VarPF(&sbatchFlag{&s.sbatch, name, value}, name, "", "option of sbatch")
		flag.Hidden = true
		if !value {
			flag.NoOptDefVal = "true"
		}
	}
}
