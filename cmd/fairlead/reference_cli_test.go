package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandsText describes every command: its purpose, its call, its flags.
func commandsText() string {
	root := newRoot(&app{in: strings.NewReader(""), out: io.Discard, errs: io.Discard})
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpFlag()
	var b strings.Builder
	commandList(&b, root)
	commandText(&b, root, 2)
	for _, g := range root.Groups() {
		for _, c := range root.Commands() {
			if c.GroupID == g.ID {
				commandText(&b, c, 2)
			}
		}
	}
	return b.String()
}

// commandList writes a table of the commands by group.
func commandList(b *strings.Builder, root *cobra.Command) {
	b.WriteString(mdRow("", "command", "what it does") + "|---|---|---|\n")
	for _, g := range root.Groups() {
		title := strings.TrimSuffix(g.Title, ":")
		for _, c := range root.Commands() {
			if c.GroupID != g.ID {
				continue
			}
			for _, x := range append([]*cobra.Command{c}, c.Commands()...) {
				if x == c && !actsItself(c) {
					continue
				}
				b.WriteString(mdRow(title, fmt.Sprintf("[%s](#%s)", x.CommandPath(), strings.ReplaceAll(x.CommandPath(), " ", "-")), x.Short))
				title = ""
			}
		}
	}
	b.WriteString("\n")
}

// actsItself reports whether a command does something without one of its subcommands. A group, or a command whose
// argument KIND names the subcommand, does not.
func actsItself(c *cobra.Command) bool {
	return !c.HasSubCommands() || c.Use != c.Name() && !strings.HasSuffix(c.Use, " KIND")
}

func commandText(b *strings.Builder, c *cobra.Command, level int) {
	fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", level), c.CommandPath())
	if c.Long == "" {
		fmt.Fprintf(b, "%s.\n\n", c.Short)
	} else {
		b.WriteString(longText(c.Long))
	}
	if c.Runnable() && actsItself(c) {
		fmt.Fprintf(b, "```text\n%s\n```\n\n", c.UseLine())
	}
	if len(c.Aliases) > 0 {
		above := c.Parent().CommandPath() + " "
		fmt.Fprintf(b, "Also: `%s%s`.\n\n", above, strings.Join(c.Aliases, "`, `"+above))
	}
	if c.Example != "" {
		fmt.Fprintf(b, "```text\n%s\n```\n\n", unindent(c.Example))
	}
	flagsText(b, c)
	if c.HasParent() {
		for _, sub := range c.Commands() {
			commandText(b, sub, level+1)
		}
	}
}

// longText keeps indented parts unchanged, as blocks.
func longText(text string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(part, "  ") {
			fmt.Fprintf(&b, "```text\n%s\n```\n\n", unindent(part))
		} else {
			b.WriteString(part + "\n\n")
		}
	}
	return b.String()
}

func unindent(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

// ofTheMachine replaces defaults that depend on the machine.
var ofTheMachine = map[string]string{
	"work --name": "name of the host", "work --cpus": "all", "serve --cpus": "all", "fairlead --server": "see [files](files.md#which-server)",
}

// elsewhere replaces paths that differ from user to user, in the texts of flags.
var elsewhere = strings.NewReplacer(
	"default: "+defaultSocket(), "default: see [sockets](files.md#sockets)",
	"default: "+defaultAgentDir("NAME"), "default: see [directories](files.md#directories)",
)

func flagsText(b *strings.Builder, c *cobra.Command) {
	rows := ""
	visit := func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		standard, special := ofTheMachine[c.Name()+" --"+f.Name]
		if !special && !slices.Contains([]string{"", "0", "0s", "[]", "false"}, f.DefValue) {
			standard = "`" + f.DefValue + "`"
		}
		rows += mdRow(name, strings.ReplaceAll(value, "stringToInt", "name=number"), standard, elsewhere.Replace(usage))
	}
	if c.HasParent() {
		c.LocalNonPersistentFlags().VisitAll(visit)
	} else {
		c.PersistentFlags().VisitAll(visit)
	}
	if rows != "" {
		b.WriteString(mdRow("flag", "value", "default", "meaning") + "|---|---|---|---|\n" + rows + "\n")
	}
}

// bridgeOptionsText lists the options of each kind of bridge.
func bridgeOptionsText() string {
	var b strings.Builder
	b.WriteString("| kind | option | default | meaning |\n|---|---|---|---|\n")
	for _, k := range bridgeKinds {
		for _, o := range k.options {
			standard := ""
			if o.Default != "" {
				standard = "`" + o.Default + "`"
			}
			if o.Must {
				standard = "required"
			}
			b.WriteString(mdRow(k.name, "`"+o.Name+"`", standard, o.Doc))
		}
	}
	return b.String()
}
