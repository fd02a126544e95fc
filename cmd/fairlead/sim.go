package main

import "github.com/spf13/cobra"

func (a *app) simCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "sim",
		Short: "Replay a trace of jobs under one policy or several, or make a workload",
		RunE: func(*cobra.Command, []string) error {
			return usagef("which one? fairlead sim run TRACE, fairlead sim compare TRACE, or fairlead sim generate lublin or saturated")
		},
		Args: cobra.NoArgs,
	}
	c.AddCommand(a.simRunCommand(), a.simCompareCommand(), a.simGenerateCommand())
	return c
}
