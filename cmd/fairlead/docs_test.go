package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/script"
)

// The tests of this file check the documentation: links have targets, configurations are valid, and Go code equals an
// example.

// rootDir is the root of the repository, relative to this package.
const rootDir = "../.."

// docPages returns the pages of the documentation, relative to the root.
func docPages(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, name := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md"} {
		if _, err := os.Stat(filepath.Join(rootDir, name)); err == nil {
			pages = append(pages, name)
		}
	}
	err := filepath.WalkDir(filepath.Join(rootDir, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			rel, _ := filepath.Rel(rootDir, path)
			pages = append(pages, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func readPage(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rootDir, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func writePage(t *testing.T, page, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(rootDir, page), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// block is a fenced block of a page.
type block struct {
	line int    // of the first line inside, from 1
	lang string // the text after the fence
	note string // the comment <!-- note --> on the line before
	text string
}

// blocksOf returns the fenced blocks of a page, and the page without them.
func blocksOf(text string) (blocks []block, rest string) {
	var prose strings.Builder
	var in *block
	note := ""
	for i, line := range strings.Split(text, "\n") {
		lang, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && in == nil:
			in = &block{line: i + 2, lang: lang, note: note}
		case fence:
			blocks, in, note = append(blocks, *in), nil, ""
		case in != nil:
			in.text += line + "\n"
		default:
			prose.WriteString(line)
			if c, ok := strings.CutPrefix(line, "<!-- "); ok {
				note = strings.TrimSuffix(c, " -->")
			} else if line != "" {
				note = ""
			}
		}
		prose.WriteString("\n")
	}
	return blocks, prose.String()
}

var (
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	mdLink     = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ +(.+)$`)
)

func TestDocsLinks(t *testing.T) {
	t.Parallel()
	for _, page := range docPages(t) {
		_, prose := blocksOf(readPage(t, page))
		for _, m := range mdLink.FindAllStringSubmatch(inlineCode.ReplaceAllString(prose, "x"), -1) {
			if wrong := checkLink(t, page, m[1]); wrong != "" {
				t.Errorf("%s: link %s: %s", page, m[1], wrong)
			}
		}
	}
}

func checkLink(t *testing.T, page, link string) string {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return ""
	}
	file, anchor, _ := strings.Cut(link, "#")
	target := page
	if file != "" {
		target = filepath.Join(filepath.Dir(page), file)
	}
	if _, err := os.Stat(filepath.Join(rootDir, target)); err != nil {
		return "there is no " + target
	}
	if anchor != "" && !anchors(readPage(t, target))[anchor] {
		return "no heading of " + target + " has this name"
	}
	return ""
}

// anchors returns the names of a page's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	_, prose := blocksOf(text)
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(prose, -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(m[1]))
		unique := name
		for n := 1; names[unique]; n++ {
			unique = fmt.Sprint(name, "-", n)
		}
		names[unique] = true
	}
	return names
}

// TestDocsConfigurations parses every YAML block as a configuration, unless the note before it says
// otherwise: <!-- yaml of client.yaml -->, or the file of a bridge: <!-- yaml of a bridge to queue -->.
func TestDocsConfigurations(t *testing.T) {
	t.Parallel()
	for _, page := range docPages(t) {
		blocks, _ := blocksOf(readPage(t, page))
		for _, b := range blocks {
			if b.lang != "yaml" || b.note == "file: typo.yaml" {
				continue
			}
			var err error
			if kind, ok := strings.CutPrefix(b.note, "yaml of a bridge to "); ok {
				_, err = config.ParseBridge(fmt.Sprintf("%s:%d", page, b.line), []byte(b.text), bridgeOptions(t, kind))
			} else if strings.HasPrefix(b.note, "yaml of ") {
				err = yaml.Unmarshal([]byte(b.text), new(any))
			} else {
				_, err = config.Parse(fmt.Sprintf("%s:%d", page, b.line), []byte(b.text))
			}
			if err != nil {
				t.Errorf("%s:%d: %v", page, b.line, err)
			}
		}
	}
}

// bridgeOptions returns the options of a kind of bridge.
func bridgeOptions(t *testing.T, name string) []config.BridgeOption {
	t.Helper()
	for _, k := range bridgeKinds {
		if k.name == name {
			return k.options
		}
	}
	t.Fatalf("there is no kind of bridge %q", name)
	return nil
}

// TestDocsQuoteExamples compares Go code with the example that it quotes, and writes it with -update. The note before
// the code names the example: <!-- example: ExampleLoop -->. Another test builds the files of tutorials.
func TestDocsQuoteExamples(t *testing.T) {
	t.Parallel()
	examples := exampleBodies(t)
	for _, page := range docPages(t) {
		text := readPage(t, page)
		blocks, _ := blocksOf(text)
		for _, b := range blocks {
			if b.lang != "go" || !strings.HasPrefix(page, "docs") || strings.HasPrefix(b.note, "file: ") {
				continue
			}
			name, ok := strings.CutPrefix(b.note, "example: ")
			want := examples[name]
			if !ok || want == "" {
				t.Errorf("%s:%d: the note before Go code has to name an example, not %q", page, b.line, b.note)
			} else if b.text != want && *update {
				text = strings.Replace(text, "\n```go\n"+b.text+"```\n", "\n```go\n"+want+"```\n", 1)
				writePage(t, page, text)
			} else if b.text != want {
				t.Errorf("%s:%d: the code is not that of %s; make docs writes it", page, b.line, name)
			}
		}
	}
}

// exampleBodies returns the examples of the root package and of the stores: the bodies of their functions,
// and whole files, by name.
func exampleBodies(t *testing.T) map[string]string {
	files, err := filepath.Glob(filepath.Join(rootDir, "example_*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no examples", err)
	}
	ofStores, err := filepath.Glob(filepath.Join(rootDir, "store", "*", "example_*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, ofStores...)
	bodies := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bodies[filepath.Base(file)] = string(text)
		for part := range strings.SplitSeq(string(text), "\nfunc ") {
			name, rest, isFunc := strings.Cut(part, "() {\n")
			if body, _, closed := strings.Cut(rest, "\n}\n"); isFunc && closed {
				bodies[name] = strings.ReplaceAll(strings.TrimPrefix(body, "\t"), "\n\t", "\n") + "\n"
			}
		}
	}
	return bodies
}

// directive matches a row of a table that explains a line of a script.
var directive = regexp.MustCompile("(?m)^\\| `(#(?:SBATCH|PBS|FL) [^`]+)` \\| (.+?) \\|")

// TestDocsDirectives compares the tables of directives with the flags into which the program translates them.
func TestDocsDirectives(t *testing.T) {
	t.Parallel()
	const page = "docs/how-to/move-from-slurm.md"
	rows := directive.FindAllStringSubmatch(readPage(t, page), -1)
	if len(rows) < 30 {
		t.Errorf("%s: only %d rows of directives found", page, len(rows))
	}
	for _, m := range rows {
		d, err := script.Parse([]byte("#!/bin/sh\n" + m[1] + "\n"))
		if err != nil {
			t.Errorf("%s: %s: %v", page, m[1], err)
			continue
		}
		var got []string
		for _, f := range d.Flags {
			if f.Value == "true" {
				got = append(got, "--"+f.Name)
			} else {
				got = append(got, fmt.Sprintf("--%s %s", f.Name, f.Value))
			}
		}
		made := "`" + strings.Join(got, " ") + "`"
		switch {
		case len(d.Ignored) > 0 && len(got) == 0:
			made = "named as ignored"
		case len(d.Ignored) > 0:
			made += ", the rest named as ignored"
		case len(got) == 0:
			made = "nothing"
		}
		if m[2] != made {
			t.Errorf("%s: %s: the page says %s, the program makes of it %s", page, m[1], m[2], made)
		}
	}
}

// TestDocsVariables checks that a page names every variable that the program reads or a task gets.
func TestDocsVariables(t *testing.T) {
	t.Parallel()
	pages := readPage(t, "docs/reference/files.md") + readPage(t, "docs/how-to/move-from-slurm.md")
	read := regexp.MustCompile(`(?:Getenv|LookupEnv)\("([A-Z_]+)"\)`)
	given := regexp.MustCompile(`"((?:FAIRLEAD|SLURM|PBS)_[A-Z_]+)"`)
	for pattern, names := range map[string]*regexp.Regexp{"cmd/fairlead/*.go": read, "internal/agent/*.go": given, "internal/process/*.go": given} {
		files, err := filepath.Glob(filepath.Join(rootDir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range names.FindAllStringSubmatch(string(text), -1) {
				if !strings.Contains(pages, "`"+m[1]+"`") {
					t.Errorf("%s: the variable %s is on no page", file, m[1])
				}
			}
		}
	}
}
