package main

import (
	"cmp"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// advised finds commands in a text. A colon before a command shows that it is a command and not prose.
var (
	advised = regexp.MustCompile(`(: |^|[^a-z/._-])fairlead ([a-z][^;\n·()]*)`)
	// placeholder matches a placeholder for a job number in a command.
	placeholder = regexp.MustCompile(`JOB|%(\[\d\])?[ds]`)
	aFlag       = regexp.MustCompile(`^--?[a-zA-Z][a-z-]*`)
)

// TestAdvisedCommands checks every command that a text of the program names: the command and its flags must
// exist.
func TestAdvisedCommands(t *testing.T) {
	root := newRoot(&app{})
	count := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Error(path, err)
			}
			for _, found := range advised.FindAllStringSubmatch(text, -1) {
				count++
				told := strings.HasPrefix(found[1], ":")
				if wrong := cmp.Or(wrongAdvice(root, found[2], told), refused(t, found[2], told)); wrong != "" {
					t.Errorf("%s: fairlead %s: %s", path, found[2], wrong)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 100 {
		t.Errorf("only %d commands were found", count)
	}
}

// refused returns the reason if the program refuses a command before it asks a server, because words are
// missing or belong to another command. It tries only commands that do nothing without a server.
func refused(t *testing.T, text string, told bool) string {
	t.Helper()
	for _, end := range []string{", ", ": ", "    "} {
		text, _, _ = strings.Cut(text, end)
	}
	words := strings.Fields(placeholder.ReplaceAllString(text, "1"))
	known := []string{"alter", "release", "hold", "requeue", "cancel", "uncancel", "resume", "drain", "logs", "explain"}
	if !told || len(words) < 2 || !slices.Contains(known, words[0]) || strings.HasSuffix(text, " ") || strings.HasSuffix(text, "%s") {
		return "" // the rest of the command may be in another literal
	}
	words[len(words)-1] = strings.TrimRight(words[len(words)-1], ":.`")
	root := newRoot(&app{in: strings.NewReader(""), out: io.Discard, errs: io.Discard})
	root.SetArgs(append(words, "--server", filepath.Join(t.TempDir(), "none")))
	if err := root.ExecuteContext(t.Context()); errors.As(err, new(usageError)) {
		return err.Error()
	}
	return ""
}

// TestWrongAdvice checks that the test above finds wrong commands.
func TestWrongAdvice(t *testing.T) {
	root := newRoot(&app{})
	if got := refused(t, "alter JOB --pool POOL", true); got != "give either job numbers or a selection with -u, -A, -k or -t, not both" && !strings.Contains(got, "nothing to change: give --priority") {
		t.Errorf("a command without what it needs: %q", got)
	}
	for text, wrong := range map[string]string{
		"alter JOB --pool POOL --into X": "--into is no flag of fairlead alter", "alter JOB --move-to POOL": "", "config chek": "chek is no command of fairlead config",
		"chek FILE": "chek is no command of fairlead", "bridge slurm --name %s": "", "why %d --vs %s": "", "submit -- echo -z": "", "why 1 -z, or": "-z is no flag of fairlead why",
	} {
		if got := wrongAdvice(root, text, true); got != wrong {
			t.Errorf("%s: got %q, want %q", text, got, wrong)
		}
	}
}

// wrongAdvice describes the mistake in a command, or returns "". In text that may be prose it checks flags
// only.
func wrongAdvice(root *cobra.Command, text string, told bool) string {
	c := root
	words := strings.Fields(text)
	for i, word := range words {
		word = strings.Trim(word, "\"'`,.:?")
		if word == "--" || word == "fairlead" || word == "%s" && c.HasAvailableSubCommands() {
			return ""
		}
		if name := aFlag.FindString(word); name != "" {
			known := c.Flags().Lookup(strings.TrimLeft(name, "-")) != nil || c.InheritedFlags().Lookup(strings.TrimLeft(name, "-")) != nil
			if !strings.HasPrefix(name, "--") {
				known = c.Flags().ShorthandLookup(name[1:2]) != nil || c.InheritedFlags().ShorthandLookup(name[1:2]) != nil
			}
			if !known && name != "--help" {
				return name + " is no flag of " + c.CommandPath()
			}
			continue
		}
		if !c.HasAvailableSubCommands() || i > 0 && c == root {
			continue
		}
		sub, _, err := c.Find([]string{word})
		if err == nil && sub != c {
			c = sub
		} else if told && word != "" && strings.ToLower(word) == word && word[0] >= 'a' && word[0] <= 'z' {
			return word + " is no command of " + c.CommandPath()
		} else if c == root {
			return ""
		}
	}
	return ""
}
