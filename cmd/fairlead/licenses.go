package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/notices"
)

func licensesCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "licenses",
		Short:   "Print the licenses of the software in this program",
		Long:    "Print the full licenses of Go and of the modules that this program contains.",
		Example: "  fairlead licenses | less",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(a.out, notices.Text)
			return err
		},
	}
}
