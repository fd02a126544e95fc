package tidy

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// longTests is the list of scripts/test.
var longTests = regexp.MustCompile(`(?ms)^long=\(([\w\s]+)\)$`)

// TestLongTestsRunWhole checks that scripts/test lists each test that -short makes shorter, and no other: it runs
// the other tests of packages with goroutines under the race detector only, with -short.
func TestLongTestsRunWhole(t *testing.T) {
	m := longTests.FindStringSubmatch(read(t, "scripts/test"))
	if m == nil {
		t.Fatal("scripts/test has no list of long tests")
	}
	listed := map[string]bool{}
	for _, name := range strings.Fields(m[1]) {
		listed[name] = false
	}
	for _, p := range testPackages(t) {
		for _, name := range p.askShort() {
			if _, ok := listed[name]; !ok {
				t.Errorf("%s: %s asks testing.Short: add it to the list in scripts/test", p.name, name)
			}
			listed[name] = true
		}
	}
	for name, found := range listed {
		if !found {
			t.Errorf("no %s asks testing.Short: remove it from the list in scripts/test", name)
		}
	}
}

// askShort lists the tests that ask testing.Short, or call a function of their package that does.
func (p *testPackage) askShort() (tests []string) {
	helpers := map[string]bool{}
	for name, all := range p.functions {
		helpers[name] = !isTest(name) && slices.ContainsFunc(all, asksShort) && all[0].Recv == nil
	}
	for name, all := range p.functions {
		fn := all[0]
		asks := asksShort(fn)
		eachName(fn.Body, func(called string) { asks = asks || helpers[called] })
		if asks && isTest(name) {
			tests = append(tests, name)
		}
	}
	return tests
}

func asksShort(fn *ast.FuncDecl) (asks bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		asks = asks || ok && isCall(call, "testing", "Short")
		return true
	})
	return asks
}
