package tidy

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// TestRecomputationIsIndependent checks that the code that recomputes an answer shares nothing with the code
// that decided. Package why/replay imports only package why. The method Recompute of a policy, and all code
// in package policy that it uses, use no other package of the module.
func TestRecomputationIsIndependent(t *testing.T) {
	rules := 0
	eachPackage(t, func(p checked) {
		switch p.name {
		case "why/replay":
			for _, i := range p.types.Imports() {
				if independent(i) {
					continue
				}
				t.Errorf("%s imports %s", p.name, i.Path())
			}
		case "policy":
			bodies := bodiesOf(p)
			for f := range bodies {
				if f.Name() == "Recompute" {
					rules++
					recomputes{t, p, bodies, map[types.Object]bool{}}.check(f)
				}
			}
		}
	})
	if rules < 5 {
		t.Errorf("package policy has %d methods Recompute", rules)
	}
}

// independent reports whether a package has no part in decisions.
func independent(p *types.Package) bool {
	rest, ours := strings.CutPrefix(p.Path(), module+"/")
	return !ours || rest == "why" || rest == "why/room" || rest == "why/replay"
}

// bodiesOf finds the declarations of the functions and methods of a package.
func bodiesOf(p checked) map[types.Object]*ast.FuncDecl {
	bodies := map[types.Object]*ast.FuncDecl{}
	for _, file := range p.files {
		for _, d := range file.Decls {
			if fn, is := d.(*ast.FuncDecl); is {
				bodies[p.info.Defs[fn.Name]] = fn
			}
		}
	}
	return bodies
}

// recomputes visits the functions that a recomputation calls.
type recomputes struct {
	t      *testing.T
	p      checked
	bodies map[types.Object]*ast.FuncDecl
	seen   map[types.Object]bool
}

func (r recomputes) check(f types.Object) {
	if r.seen[f] || r.bodies[f] == nil {
		return
	}
	r.seen[f] = true
	ast.Inspect(r.bodies[f].Body, func(n ast.Node) bool {
		id, is := n.(*ast.Ident)
		if !is {
			return true
		}
		used := r.p.info.Uses[id]
		if used == nil || used.Pkg() == nil {
			return true
		}
		from := used.Pkg()
		if name, is := used.(*types.PkgName); is {
			from = name.Imported()
		}
		if from != r.p.types && !independent(from) {
			r.t.Errorf("%s: a recomputation uses %s", r.p.set.Position(id.Pos()), used)
		}
		if v, is := used.(*types.Var); is && used.Pkg() == r.p.types && v.Parent() == r.p.types.Scope() {
			r.t.Errorf("%s: a recomputation uses the variable %s of its package", r.p.set.Position(id.Pos()), used.Name())
		}
		r.check(used)
		return true
	})
}
