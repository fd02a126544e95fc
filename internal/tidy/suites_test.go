package tidy

import (
	"go/ast"
	"maps"
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
	realTests = regexp.MustCompile(`(?m)\breal((?: \./[\w/]+)+)`)
)

// campaignTests matches a call of tests in scripts/campaign: the package and the pattern of the tests.
var campaignTests = regexp.MustCompile(`\btests "?(\./[\w/$.]+)"? ["']?([\w|$\\]+)`)

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

// startsGoroutine reports whether the file has a go statement, or calls a method Go, as a sync.WaitGroup and an
// errgroup.Group have it.
func startsGoroutine(f *ast.File) (starts bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			starts = true
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			starts = starts || ok && s.Sel.Name == "Go"
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
	for _, fn := range askShort(sources(t)) {
		if fn.owner == "" && isTest(fn.name) && raced(fn.dir) {
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

// function names a function or a method of the module.
type function struct{ dir, owner, name string } // owner: the type of a method

// askShort finds the functions that ask testing.Short, themselves or through functions that they name.
func askShort(files []source) []function {
	asks := map[function]bool{}
	for more := true; more; {
		more = false
		for _, f := range files {
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil || f.tag != "" {
					continue
				}
				name := function{f.dir, ownerOf(fn), fn.Name.Name}
				if !asks[name] && f.asks(fn.Body, asks) {
					asks[name], more = true, true
				}
			}
		}
	}
	return slices.Collect(maps.Keys(asks))
}

// asks reports whether the code asks testing.Short, or names a function that does: one of its package, or an
// exported one of another package of the module.
func (f *source) asks(body ast.Node, others map[function]bool) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found = found || others[function{f.dir, "", n.Name}]
		case *ast.SelectorExpr:
			if from, ok := n.X.(*ast.Ident); ok {
				dir, ours := f.imports[from.Name]
				found = found || ours && others[function{dir, "", n.Sel.Name}] ||
					from.Name == "testing" && n.Sel.Name == "Short"
			}
		}
		return !found
	})
	return found
}

// TestEveryTestHasASuite checks that scripts/test runs the package of each test with the tag real, and
// scripts/campaign each test with the tag campaign.
func TestEveryTestHasASuite(t *testing.T) {
	reals, campaigns := realPackages(t), campaignSuites(t)
	for _, f := range sources(t) {
		for _, name := range f.tests() {
			switch f.tag {
			case "real":
				if !strings.HasPrefix(name, "TestReal") || !slices.Contains(reals, "./"+f.dir) {
					t.Errorf("%s: no suite of scripts/test runs %s", f.path, name)
				}
			case "campaign":
				runs := func(c campaignSuite) bool { return c.dir.MatchString("./"+f.dir) && c.names.MatchString(name) }
				if !slices.ContainsFunc(campaigns, runs) {
					t.Errorf("%s: no campaign of scripts/campaign runs %s", f.path, name)
				}
			}
		}
	}
}

// realPackages lists the packages that scripts/test passes to its function real.
func realPackages(t *testing.T) (dirs []string) {
	for _, m := range realTests.FindAllStringSubmatch(read(t, "scripts/test"), -1) {
		dirs = append(dirs, strings.Fields(m[1])...)
	}
	return dirs
}

// campaignSuite is a call of tests in scripts/campaign.
type campaignSuite struct{ dir, names *regexp.Regexp }

func campaignSuites(t *testing.T) (all []campaignSuite) {
	variable := regexp.MustCompile(`\$\w+`)
	pattern := func(text string) *regexp.Regexp {
		text = strings.ReplaceAll(text, `\$`, "")
		return regexp.MustCompile("^(" + variable.ReplaceAllString(text, `\w+`) + ")")
	}
	for _, m := range campaignTests.FindAllStringSubmatch(read(t, "scripts/campaign"), -1) {
		dir := regexp.MustCompile(pattern(strings.ReplaceAll(m[1], ".", `\.`)).String() + "$")
		all = append(all, campaignSuite{dir, pattern(m[2])})
	}
	return all
}
