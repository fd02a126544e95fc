package main

import "github.com/spf13/cobra"

func (a *app) simCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "sim",
		Short: "Make workloads for simulations",
		RunE: func(*cobra.Command, []string) error {
			return usagef("which one? fairlead sim generate lublin, or fairlead sim generate saturated")
		},
		Args: cobra.NoArgs,
	}
	c.AddCommand(a.simGenerateCommand())
	return c
}
