package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// source is a Go file of the module.
type source struct {
	path, dir string
	tag       string // what the file needs to be built, such as real, campaign or linux; "" for nothing
	test      bool
	set       *token.FileSet
	ast       *ast.File
	imports   map[string]string // name in the file -> folder, for packages of the module
}

// sources reads all Go files of the module.
func sources(t *testing.T) (all []source) {
	t.Helper()
	set := token.NewFileSet()
	for _, file := range goFiles(t, true) {
		tree, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		f := source{path: file, dir: path.Dir(file), test: strings.HasSuffix(file, "_test.go"), set: set, ast: tree,
			tag: tagOf(tree), imports: map[string]string{}}
		for _, i := range tree.Imports {
			f.addImport(t, i)
		}
		all = append(all, f)
	}
	return all
}

// tagOf returns the build constraint of a file, or "".
func tagOf(f *ast.File) string {
	for _, c := range f.Comments {
		if tag, ok := strings.CutPrefix(c.List[0].Text, "//go:build "); ok && c.Pos() < f.Package {
			return tag
		}
	}
	return ""
}

func (f *source) addImport(t *testing.T, i *ast.ImportSpec) {
	t.Helper()
	from, err := strconv.Unquote(i.Path.Value)
	if err != nil {
		t.Fatal(err)
	}
	rest, ours := strings.CutPrefix(from, module)
	if !ours {
		return
	}
	name := path.Base(from)
	if i.Name != nil {
		name = i.Name.Name
	}
	f.imports[name] = path.Clean(strings.TrimPrefix(rest, "/"))
}

// tests lists the tests of the file.
func (f *source) tests() (names []string) {
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Recv == nil && isTest(fn.Name.Name) && fn.Name.Name != "TestMain" {
			names = append(names, fn.Name.Name)
		}
	}
	return names
}
