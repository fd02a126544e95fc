package tidy

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// A type can be read in a sitting, and the names of a package fit a screen.
const (
	maxMethods     = 40  // of a type
	maxCoreMethods = 60  // of a type of sched or of a store
	maxFields      = 25  // of a struct
	maxExported    = 70  // names of a package, methods of its types included
	maxLine        = 120 // characters, a tab being one
)

func TestTypesAreReadInASitting(t *testing.T) {
	methods := map[string]int{}
	for _, file := range goFiles(t, false) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[packageOf(file)+"."+receiver(fn)]++
			}
		}
	}
	most := func(name string) int {
		if strings.HasPrefix(name, "sched.") || strings.HasPrefix(name, "store/") {
			return maxCoreMethods
		}
		return maxMethods
	}
	limit{"methods", most, "make what is new a function, or make a part of the type a type of its own"}.hold(t, methods)
}

// receiver returns the name of the type of a method.
func receiver(fn *ast.FuncDecl) string {
	e := fn.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// TestStructsAreReadAtAGlance counts the fields of each named struct.
func TestStructsAreReadAtAGlance(t *testing.T) {
	fields := map[string]int{}
	eachPackage(t, func(p checked) {
		for _, name := range p.types.Scope().Names() {
			object, is := p.types.Scope().Lookup(name).(*types.TypeName)
			if !is || object.IsAlias() {
				continue
			}
			if s, is := object.Type().Underlying().(*types.Struct); is {
				fields[p.title()+"."+name] = s.NumFields()
			}
		}
	})
	limit{"fields", atMost(maxFields), "make fields that belong together a struct of their own"}.hold(t, fields)
}

// TestPackagesAreKnownByAScreenOfNames checks that the exported names of a package fit a screen.
func TestPackagesAreKnownByAScreenOfNames(t *testing.T) {
	exported := map[string]int{}
	for _, file := range goFiles(t, false) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			exported[cmp.Or(packageOf(file), "fairlead")] += exportedNames(d)
		}
	}
	instead := "keep the name in the package, or make a part of it a package of its own"
	limit{"exported", atMost(maxExported), instead}.hold(t, exported)
}

// TestLinesFitTheScreen counts the long lines of each package, tests included.
func TestLinesFitTheScreen(t *testing.T) {
	long := map[string]int{}
	for _, file := range goFiles(t, true) {
		pkg := cmp.Or(packageOf(file), "fairlead")
		long[pkg] += 0
		for line := range strings.Lines(read(t, file)) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > maxLine {
				long[pkg]++
			}
		}
	}
	limit{"long-lines", atMost(0), fmt.Sprintf("no new line may be longer than %d characters", maxLine)}.hold(t, long)
}

// exportedNames returns the number of names that a declaration exports.
func exportedNames(d ast.Decl) (n int) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
			n++
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					n++
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						n++
					}
				}
			}
		}
	}
	return n
}
