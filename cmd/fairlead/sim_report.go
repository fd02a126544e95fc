package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// repeated is the command that was given, to be given again.
func repeated(c *cobra.Command, args []string) string {
	words := strings.Fields(c.CommandPath())
	for _, arg := range args {
		words = append(words, shellQuoted(arg))
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			words = append(words, "--"+f.Name)
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
			if f.Value.Type() != "stringArray" {
				values = []string{strings.Join(values, ",")}
			}
		}
		for _, v := range values {
			words = append(words, "--"+f.Name, shellQuoted(v))
		}
	})
	return strings.Join(words, " ")
}
