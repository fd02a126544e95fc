package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A function fits a screen, a file holds one idea. These numbers may be lowered, not raised.
const (
	maxFunction = 70  // lines
	maxFile     = 420 // lines
)

func TestFunctionsFitAScreen(t *testing.T) {
	for _, file := range goFiles(t, true) {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				if n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1; n > maxFunction {
					t.Errorf("%s: %s has %d lines, at most %d", file, fn.Name.Name, n, maxFunction)
				}
			}
		}
	}
}

func TestFilesHoldOneIdea(t *testing.T) {
	for _, file := range goFiles(t, false) {
		if n := strings.Count(read(t, file), "\n"); n > maxFile {
			t.Errorf("%s has %d lines, at most %d", file, n, maxFile)
		}
	}
}

// TestPackagesSayWhatTheyAre requires one package comment in each package.
func TestPackagesSayWhatTheyAre(t *testing.T) {
	comments := map[string]int{}
	for _, file := range goFiles(t, false) {
		mode := parser.ParseComments | parser.PackageClauseOnly
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, mode)
		if err != nil {
			t.Fatal(err)
		}
		pkg := packageOf(file)
		comments[pkg] += 0
		if f.Doc != nil {
			comments[pkg]++
		}
	}
	for pkg, n := range comments {
		if n != 1 {
			t.Errorf("package %q has %d package comments, want one", pkg, n)
		}
	}
}

// TestExportedThingsAreDocumented requires a comment on every exported name in the packages that other
// modules may import.
func TestExportedThingsAreDocumented(t *testing.T) {
	for _, file := range goFiles(t, false) {
		if strings.Contains(file, "internal") || strings.HasPrefix(file, "cmd") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: %s is exported and has no comment", file, name)
			}
		}
	}
}

func undocumented(d ast.Decl) []string {
	var names []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
				names = append(names, s.Name.Name)
			}
			if s, ok := s.(*ast.ValueSpec); ok && s.Names[0].IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
				names = append(names, s.Names[0].Name)
			}
		}
	}
	return names
}

// exportedReceiver excludes methods of unexported types, and methods that an interface of the standard
// library requires.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	id, ok := t.(*ast.Ident)
	if !ok || !id.IsExported() {
		return false
	}
	switch d.Name.Name {
	case "Error", "Unwrap", "String", "Len", "Less", "Swap", "Push", "Pop":
		return false
	}
	return true
}

// leftOver matches words for unfinished work.
var leftOver = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func TestNothingIsLeftOpen(t *testing.T) {
	for _, file := range goFiles(t, true) {
		if file == filepath.Join("internal", "tidy", "shape_test.go") {
			continue
		}
		for i, line := range strings.Split(read(t, file), "\n") {
			if leftOver.MatchString(line) {
				t.Errorf("%s:%d: %s", file, i+1, strings.TrimSpace(line))
			}
		}
	}
}
