package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTestsDoNotWaitForTheClock finds the places where the result of a test depends on real time: it sleeps,
// or it compares a duration that it measured. Both are right inside synctest.Test, where time is virtual, and
// in campaigns. Other tests wait for an event with await.Until.
func TestTestsDoNotWaitForTheClock(t *testing.T) {
	found := map[string]int{}
	which := map[string][]string{}
	for name, p := range testPackages(t) {
		for _, place := range p.realTime() {
			found[name]++
			which[name] = append(which[name], place)
		}
	}
	instead := "wait for the event with await.Until, use synctest.Test, or move the whole test to a campaign"
	for _, name := range (limit{"real-time", atMost(0), instead}).hold(t, found) {
		t.Logf("%s: %s", name, strings.Join(which[name], "\n\t"))
	}
}

// mayLookAtTheClock lists functions in which real time decides no result of make test, with the reason.
var mayLookAtTheClock = map[string]string{
	"cmd/fairlead follow":       "pages are recorded at the speed of somebody who types; tests have no pause",
	"cmd/fairlead intrudePorts": "the port is freed after different times, for the server to look before and after",
	"internal/foreign convert":  "what takes long is found in the campaign fuzz only",
}

// testPackage holds the test files of one package, except campaigns.
type testPackage struct {
	name      string
	set       *token.FileSet
	functions map[string][]*ast.FuncDecl // by name: methods of different types may share one
	wrappers  map[string]bool            // functions that run their function parameters inside synctest.Test
}

// testPackages reads the test files of all packages.
func testPackages(t *testing.T) map[string]*testPackage {
	t.Helper()
	all := map[string]*testPackage{}
	for _, f := range sources(t) {
		if !f.test || f.tag == "campaign" {
			continue
		}
		name := f.dir
		if name == "." {
			name = "fairlead"
		}
		if all[name] == nil {
			all[name] = &testPackage{name: name, set: f.set, functions: map[string][]*ast.FuncDecl{}}
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				all[name].functions[fn.Name.Name] = append(all[name].functions[fn.Name.Name], fn)
			}
		}
	}
	for _, p := range all {
		p.findWrappers()
	}
	return all
}

// realTime lists the uses of real time in functions that run outside synctest.Test.
func (p *testPackage) realTime() (places []string) {
	for _, fn := range p.outside() {
		if mayLookAtTheClock[p.name+" "+fn.Name.Name] != "" {
			continue
		}
		took := durations(fn)
		p.eachOutside(fn.Body, func(n ast.Node) {
			if what := clocked(n, took); what != "" {
				at := p.set.Position(n.Pos())
				places = append(places, fmt.Sprintf("%s:%d: %s", filepath.Base(at.Filename), at.Line, what))
			}
		})
	}
	slices.Sort(places)
	return places
}

// outside finds the functions that may run in real time: tests, and the functions that one of these names
// outside a function that runs inside synctest.Test. A method counts if its type is reached in this way, and
// the method is either reached or named nowhere in the package, because then other packages call it through
// an interface. Benchmarks are exempt, because they measure time.
func (p *testPackage) outside() []*ast.FuncDecl {
	named, reached := map[string]bool{}, map[string]bool{}
	var waiting, found []*ast.FuncDecl
	for name, all := range p.functions {
		waiting = append(waiting, all...)
		for _, fn := range all {
			eachName(fn.Body, func(other string) { named[other] = named[other] || other != name })
			reached[name] = reached[name] || fn.Recv == nil && isTest(name)
		}
	}
	for more := true; more; {
		more = false
		waiting = slices.DeleteFunc(waiting, func(fn *ast.FuncDecl) bool {
			is := reached[fn.Name.Name]
			if fn.Recv != nil {
				is = reached[receiver(fn)] && (is || !named[fn.Name.Name])
			}
			if is {
				more, found = true, append(found, fn)
				p.eachOutside(fn, func(n ast.Node) {
					if id, ok := n.(*ast.Ident); ok {
						reached[id.Name] = true
					}
				})
			}
			return is
		})
	}
	return found
}

func isTest(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz")
}

func eachName(n ast.Node, f func(string)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			f(id.Name)
		}
		return true
	})
}

// eachOutside calls f for each node that is not inside a function passed to synctest.Test, or to a wrapper of
// it. It skips the cases of a select: there, time.After is a limit that only a hang reaches.
func (p *testPackage) eachOutside(body ast.Node, f func(ast.Node)) {
	cases := map[*ast.ExprStmt]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && p.isVirtual(call) {
			return false
		}
		if c, ok := n.(*ast.CommClause); ok {
			if s, ok := c.Comm.(*ast.ExprStmt); ok {
				cases[s] = true
			}
		}
		if s, ok := n.(*ast.ExprStmt); n != nil && !(ok && cases[s]) {
			f(n)
		}
		return true
	})
}

// isVirtual reports whether the call runs its function arguments inside synctest.Test.
func (p *testPackage) isVirtual(call *ast.CallExpr) bool {
	id, ok := call.Fun.(*ast.Ident)
	return isCall(call, "synctest", "Test") || ok && p.wrappers[id.Name]
}

// findWrappers finds the functions that run their function parameters inside synctest.Test.
func (p *testPackage) findWrappers() {
	p.wrappers = map[string]bool{}
	for more := true; more; {
		more = false
		for name, all := range p.functions {
			if !p.wrappers[name] && takesFunction(all[0]) && p.callsVirtual(all[0]) {
				p.wrappers[name], more = true, true
			}
		}
	}
}

func takesFunction(fn *ast.FuncDecl) bool {
	return slices.ContainsFunc(fn.Type.Params.List, func(f *ast.Field) bool {
		_, ok := f.Type.(*ast.FuncType)
		return ok
	})
}

func (p *testPackage) callsVirtual(fn *ast.FuncDecl) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && p.isVirtual(call)
		return !found
	})
	return found
}

// clocked describes the dependency of a node on real time, or returns "".
func clocked(n ast.Node, took map[string]bool) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		if isCall(n, "time", "Sleep") {
			return "time.Sleep"
		}
		if isCall(n, "await", "Within") && isNever(n.Args[1]) {
			return "a wait for nothing"
		}
	case *ast.ExprStmt:
		receive, ok := n.X.(*ast.UnaryExpr)
		if !ok || receive.Op != token.ARROW {
			return ""
		}
		if call, ok := receive.X.(*ast.CallExpr); ok && isCall(call, "time", "After") {
			return "<-time.After"
		}
	case *ast.BinaryExpr:
		order := []token.Token{token.LSS, token.GTR, token.LEQ, token.GEQ}
		if slices.Contains(order, n.Op) && (isSince(n.X, took) || isSince(n.Y, took)) {
			return "a comparison with time.Since"
		}
	}
	return ""
}

// isNever reports whether the expression is a function that only returns false.
func isNever(e ast.Expr) bool {
	f, ok := e.(*ast.FuncLit)
	if !ok || len(f.Body.List) != 1 {
		return false
	}
	r, ok := f.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(r.Results) != 1 {
		return false
	}
	id, ok := r.Results[0].(*ast.Ident)
	return ok && id.Name == "false"
}

// isSince reports whether the expression is time.Since, or a variable that was set to it in the same
// function.
func isSince(e ast.Expr, took map[string]bool) bool {
	if id, ok := e.(*ast.Ident); ok {
		return took[id.Name]
	}
	call, ok := e.(*ast.CallExpr)
	return ok && isCall(call, "time", "Since")
}

// durations returns the variables of a function that are set to time.Since.
func durations(fn *ast.FuncDecl) map[string]bool {
	took := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		if set, ok := n.(*ast.AssignStmt); ok && len(set.Rhs) == 1 && isSince(set.Rhs[0], nil) {
			if id, ok := set.Lhs[0].(*ast.Ident); ok {
				took[id.Name] = true
			}
		}
		return true
	})
	return took
}

func isCall(call *ast.CallExpr, from, name string) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == from
}
