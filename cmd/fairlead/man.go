package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes manual pages, one for each command.
func manCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIRECTORY",
		Short: "Write the manual pages of all commands into a directory",
		Long: `Write the manual pages of all commands into a directory, which is created if it does not exist.
The date of the pages is today's, or that of SOURCE_DATE_EPOCH.`,
		Example: `  fairlead man /usr/local/share/man/man1     then: man fairlead-submit
  fairlead man man1 && man man1/fairlead-why.1`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := c.Root()
			disableTags(root)
			head := &doc.GenManHeader{Section: "1", Source: "fairlead " + version, Manual: "fairlead"}
			if err := doc.GenManTree(root, head, args[0]); err != nil {
				return err
			}
			pages, err := filepath.Glob(filepath.Join(args[0], "fairlead*.1"))
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "wrote %d pages; read one with: man %s\n", len(pages),
				filepath.Join(args[0], "fairlead-submit.1"))
			return nil
		},
	}
}

// disableTags leaves out the line that says which program wrote a page.
func disableTags(c *cobra.Command) {
	c.DisableAutoGenTag = true
	for _, sub := range c.Commands() {
		disableTags(sub)
	}
}
