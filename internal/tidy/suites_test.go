package tidy

import (
	"go/ast"
	"iter"
	"maps"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Lists of scripts/test.
var (
	longTests = regexp.MustCompile(`(?ms)^long=\(([\w\s]+)\)$`)
	raceList  = regexp.MustCompile(`(?ms)^goroutines=\(([\w\s./]+)\)$`)
	realTests = regexp.MustCompile(`(?m)^[^#\n]*\breal((?: \./[\w/]+)+)`)
)

// words returns the words of a list in scripts/test.
func words(t *testing.T, list *regexp.Regexp) []string {
	t.Helper()
	m := list.FindStringSubmatch(read(t, "scripts/test"))
	if m == nil {
		t.Fatalf("scripts/test has no list %v", list)
	}
	return strings.Fields(m[1])
}

// inRaceList returns a function that reports whether scripts/test runs the package of a folder under the race
// detector.
func inRaceList(t *testing.T) func(dir string) bool {
	t.Helper()
	list := words(t, raceList)
	return func(dir string) bool {
		return slices.ContainsFunc(list, func(pattern string) bool {
			above, all := strings.CutSuffix(pattern, "/...")
			above = path.Clean(above)
			return dir == above || all && strings.HasPrefix(dir, above+"/")
		})
	}
}

// TestGoroutinesRunUnderTheRaceDetector checks that each package that starts goroutines, and has tests, is in the
// race list of scripts/test.
func TestGoroutinesRunUnderTheRaceDetector(t *testing.T) {
	listed, starts, tested := inRaceList(t), map[string]bool{}, map[string]bool{}
	for _, f := range sources(t) {
		tested[f.dir] = tested[f.dir] || f.test && f.tag == ""
		starts[f.dir] = starts[f.dir] || !f.test && startsGoroutine(f.ast)
	}
	for _, dir := range slices.Sorted(maps.Keys(starts)) {
		if starts[dir] && tested[dir] && !listed(dir) {
			t.Errorf("%s starts goroutines: add it to the list goroutines of scripts/test", dir)
		}
	}
}

// startsGoroutine reports whether the file has a go statement, or names a function or method Go, as a sync.WaitGroup
// and an errgroup.Group have it, or AfterFunc, as the packages time and context have it.
func startsGoroutine(f *ast.File) (starts bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			starts = true
		case *ast.SelectorExpr:
			starts = starts || n.Sel.Name == "Go" || n.Sel.Name == "AfterFunc"
		}
		return !starts
	})
	return starts
}

// TestLongTestsRunWhole checks that scripts/test lists each test that -short makes shorter, and no other: it runs
// the other tests of the race list under the race detector only, with -short.
func TestLongTestsRunWhole(t *testing.T) {
	raced, found := inRaceList(t), map[string]bool{}
	listed := words(t, longTests)
	for fn := range askShort(sources(t)) {
		if !fn.method && isTest(fn.name) && raced(fn.dir) {
			found[fn.name] = true
			if !slices.Contains(listed, fn.name) {
				t.Errorf("%s: %s asks testing.Short: add it to the list long of scripts/test", fn.dir, fn.name)
			}
		}
	}
	for _, name := range listed {
		if !found[name] {
			t.Errorf("no %s of the race list asks testing.Short: remove it from the list long of scripts/test", name)
		}
	}
}

// function names a function or a variable of the module, or its methods of a name.
type function struct {
	dir, name string
	method    bool
}

// askShort finds the functions, methods and variables that ask testing.Short, themselves or through others that
// they name.
func askShort(files []source) map[function]bool {
	asks := map[function]bool{}
	for more := true; more; {
		more = false
		for _, f := range files {
			for name, body := range f.bodies() {
				if !asks[name] && f.tag == "" && f.asks(body, asks) {
					asks[name], more = true, true
				}
			}
		}
	}
	return asks
}

// bodies yields the functions, methods and variables of the file.
func (f *source) bodies() iter.Seq2[function, ast.Node] {
	return func(yield func(function, ast.Node) bool) {
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body != nil && !yield(function{f.dir, d.Name.Name, d.Recv != nil}, d.Body) {
					return
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && !yield(function{f.dir, v.Names[0].Name, false}, v) {
						return
					}
				}
			}
		}
	}
}

// asks reports whether the code asks testing.Short, or names something in its package, or in another package of the
// module, that does. Methods of one name in a package count as one.
func (f *source) asks(body ast.Node, others map[function]bool) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found = found || others[function{f.dir, n.Name, false}]
		case *ast.SelectorExpr:
			found = found || others[function{f.dir, n.Sel.Name, true}]
			if from, ok := n.X.(*ast.Ident); ok {
				dir, ours := f.imports[from.Name]
				found = found || ours && others[function{dir, n.Sel.Name, false}] ||
					from.Name == "testing" && n.Sel.Name == "Short"
			}
		}
		return !found
	})
	return found
}

// TestEveryTestHasASuite checks that scripts/test runs the package of each test with the tag real, and
// scripts/campaign each test with the tag campaign, and that each campaign has a test.
func TestEveryTestHasASuite(t *testing.T) {
	reals, campaigns := realPackages(t), campaignSuites(t)
	for _, f := range sources(t) {
		if f.tag != "" && f.tag != "real" && f.tag != "campaign" && strings.Trim(f.tag, "!") != "linux" {
			t.Errorf("%s: no suite of scripts/test builds with %s", f.path, f.tag)
		}
		for _, name := range f.tests() {
			if f.tag == "real" && (!strings.HasPrefix(name, "TestReal") || !slices.Contains(reals, "./"+f.dir)) {
				t.Errorf("%s: no suite of scripts/test runs %s", f.path, name)
			}
			runs := false
			for i := range campaigns {
				if c := &campaigns[i]; c.dir == "./"+f.dir && c.names.MatchString(name) {
					runs, c.tests = true, c.tests+1
				}
			}
			if f.tag == "campaign" && !runs {
				t.Errorf("%s: no campaign of scripts/campaign runs %s", f.path, name)
			}
		}
	}
	for _, c := range campaigns {
		if c.tests == 0 {
			t.Errorf("%s has no test %v, which a campaign runs", c.dir, c.names)
		}
	}
}

// realPackages lists the packages that scripts/test passes to its function real.
func realPackages(t *testing.T) (dirs []string) {
	t.Helper()
	for _, m := range realTests.FindAllStringSubmatch(read(t, "scripts/test"), -1) {
		dirs = append(dirs, strings.Fields(m[1])...)
	}
	return dirs
}

// campaignSuite is a campaign that runs tests.
type campaignSuite struct {
	dir   string
	names *regexp.Regexp
	tests int
}

// campaignSuites reads the campaigns from lines such as "starvation tests ./sched TestStarvation -cases=20000".
func campaignSuites(t *testing.T) (all []campaignSuite) {
	t.Helper()
	cmd := exec.Command("bash", "scripts/campaign", "--commands")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); words[1] == "tests" {
			all = append(all, campaignSuite{dir: words[2], names: regexp.MustCompile("^(" + words[3] + ")")})
		}
	}
	return all
}
