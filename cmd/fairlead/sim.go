package main

import "github.com/spf13/cobra"

func simCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "sim",
		Short: "Replay a trace under one or several policies, or generate a workload",
		RunE: func(*cobra.Command, []string) error {
			return usagef("a subcommand is missing: fairlead sim run TRACE, fairlead sim compare TRACE, or fairlead sim generate lublin or saturated")
		},
		Args: cobra.NoArgs,
	}
	c.AddCommand(simRunCommand(a), simCompareCommand(a), simGenerateCommand(a))
	return c
}
