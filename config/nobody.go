package config

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/share"
)

// checkNobody warns of configured leaf pools into which only administrators may submit, because no placement rule gives
// a user the right to them and access.pools does not open them. In a file without the sections access and server, the
// pools may belong to a program, which submits into all of them.
func (r *reader) checkNobody(root *node, c *Config) {
	errors, _ := r.found.count()
	everybody := slices.Contains(c.Shares.Access.Admin, access.Anything)
	program := root.get("access") == nil && root.get("server") == nil
	if errors > 0 || everybody {
		return
	}
	if c.Rules == nil {
		r.checkOnlyNamed(root, c, program)
		return
	}
	if program {
		return
	}
	all, err := share.NewPlacementRules(c.Rules)
	if err != nil {
		return // NewPlacementRules has reported the error before
	}
	rights, err := share.NewPlacementRules(slices.DeleteFunc(slices.Clone(c.Rules), claims))
	if err != nil {
		return
	}
	(&closedPools{r, c, all, rights}).warn(root, "")
}

// checkOnlyNamed warns if a file without rules sends users nowhere. Then a user's own pool is the one with the user's
// name, and a user without such a pool can submit nowhere, because the tree is closed. If the pools may belong to a
// program, the warning is only a hint.
func (r *reader) checkOnlyNamed(root *node, c *Config, program bool) {
	if !c.Shares.OnlyNamed() {
		return
	}
	say := r.warnf
	if program {
		say = r.hintf
	}
	first := "users"
	for _, e := range pairs(root.get("pools")) {
		first = e.key.text
		break
	}
	say(root.key("pools"), "only administrators, and users after whom a pool is named, may submit: no rule of placement"+
		" sends others to a pool. Add placement: [{pool: %s}], or open all pools with "+
		"access: {pools: {/: {submit: [\"*\"]}}}",
		clip(first+"/{user}"))
}

// claims reports whether a rule depends on properties that users choose: the kind of the job, or a requestor other than
// the user. Such a rule gives no right to submit there.
func claims(rule share.Rule) bool {
	if _, by := rule.Match["requestor"]; by || strings.Contains(rule.Pool, "{kind}") {
		return true
	}
	text, by := rule.Match["kind"]
	if !by {
		return false
	}
	expr, err := share.CompileExpression(text)
	return err == nil && !expr.MatchString("") // a job may have no kind
}

// closedPools warns of leaf pools into which only administrators may submit.
type closedPools struct {
	*reader
	config *Config
	all    *share.PlacementRules
	rights *share.PlacementRules // the rules that give a right to submit
}

// warn warns of the pools below path, whose node is n.
func (r *closedPools) warn(n *node, path string) {
	for _, e := range pairs(n.get("pools")) {
		below := share.Join(path, e.key.text)
		if len(pairs(e.value.get("pools"))) > 0 {
			r.warn(e.value, below)
			continue
		}
		if leads(r.rights, below) || below == share.DefaultPool || r.config.Shares.Sched.Root.Policy == "load" ||
			r.config.Shares.Access.Opens(below) {
			continue
		}
		if leads(r.all, below) {
			r.warnf(e.key, "only administrators, and a user of this name, may submit into pool %s: rules of placement send jobs"+
				" there only by their kind or requestor, which users choose and which give no rights. Open the pool"+
				" with access: {pools: {%s: {submit: [...]}}}", clip(below), clip(below))
			continue
		}
		r.warnf(e.key, "only administrators, and a user of this name, may submit into pool %s: no rule of placement"+
			" sends jobs there. Add such a rule, or open the pool with access: {pools: {%s: {submit: [...]}}}", clip(below),
			clip(below))
	}
}

// leads reports whether rules could send a job to a pool, or to one below it.
func leads(rules *share.PlacementRules, path string) bool {
	makes, above := rules.Reach(path)
	return makes || above
}
