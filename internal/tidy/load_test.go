package tidy

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// checked is a type-checked package of the module.
type checked struct {
	name  string // as in the list of floors
	files []*ast.File
	set   *token.FileSet
	types *types.Package
	info  *types.Info
}

// packages type-checks all packages of the module, once for all tests. It reads their imports from the
// compiler's cache, which `go vet` and `go test` have filled.
var packages = sync.OnceValues(load)

func load() ([]checked, error) {
	listed, err := list()
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	from := compiled(set, listed)
	var all []checked
	for _, p := range listed {
		if rest, ours := strings.CutPrefix(p.ImportPath, module); ours {
			c, err := check(set, from, p, strings.TrimPrefix(rest, "/"))
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// compiled returns an importer that reads packages from the compiler's cache.
func compiled(set *token.FileSet, listed []listedPackage) types.Importer {
	exports := map[string]string{}
	for _, p := range listed {
		exports[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

// listedPackage is the output of `go list` for a package.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

func list() ([]listedPackage, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	cmd.Dir = root
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.New(complaints.String())
	}
	var listed []listedPackage
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listedPackage
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		listed = append(listed, p)
	}
	return listed, nil
}

func check(set *token.FileSet, from types.Importer, p listedPackage, name string) (checked, error) {
	c := checked{name: name, set: set, info: &types.Info{
		Uses: map[*ast.Ident]types.Object{},
		Defs: map[*ast.Ident]types.Object{},
	}}
	for _, file := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			return c, err
		}
		c.files = append(c.files, f)
	}
	var err error
	c.types, err = (&types.Config{Importer: from}).Check(p.ImportPath, set, c.files, c.info)
	return c, err
}

// eachPackage calls f for each package of the module.
func eachPackage(t *testing.T, f func(checked)) {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		f(p)
	}
}

// title returns the name of a package in limitsFile, where no name may be empty.
func (c checked) title() string {
	if c.name == "" {
		return "fairlead"
	}
	return c.name
}
