package web

import (
	"context"
	"html/template"
	"strings"

	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
)

// versus compares a pool with another pool that the address names.
type versus struct {
	With, Path string
	Rows       []compared
	Problem    string
	Kept       []field  // other parameters of the address
	Names      []string // pools for a comparison, the siblings first
	None       string   // the address without a comparison
}

// versusNames is the maximum number of offered pools.
const versusNames = 300

// compare compares a pool with the pool that the request names.
func (v *versus) compare(ctx context.Context, src Source, p *views.PoolView, path string, r *Request) error {
	v.Path, v.With, v.None = path, strings.Trim(r.Word("with"), "/ "), r.With("with", "")
	rest := r.Without("with")
	for _, name := range []string{"past", "pool", "since", "sort", "until"} {
		if value := rest.Word(name); value != "" {
			v.Kept = append(v.Kept, field{name, value})
		}
	}
	all, err := src.Pools.Shares(ctx, "")
	if err != nil {
		return err
	}
	v.Names = comparable(all.Pools, path)
	if v.With == "" {
		return nil
	}
	for i := range all.Pools {
		if other := &all.Pools[i]; other.Path == v.With && v.With != path {
			for _, row := range words.Compare(all, p, other) {
				v.Rows = append(v.Rows, compared(row))
			}
			return nil
		}
	}
	v.Problem = "there is no other pool " + v.With
	v.With = ""
	return nil
}

// comparable returns the paths of the pools for a comparison: first the siblings, then the others.
func comparable(all []views.PoolView, path string) (names []string) {
	above := func(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }
	for _, siblings := range []bool{true, false} {
		for i := range all {
			other := all[i].Path
			if other != "" && other != path && len(names) < versusNames && (above(other) == above(path)) == siblings {
				names = append(names, other)
			}
		}
	}
	return names
}

// compared is a number of both pools.
type compared words.Compared

// Cells returns both numbers, with their exact values.
func (c compared) Cells() (out []template.HTML) {
	for i, text := range c.Of {
		if text == "" {
			text = "–"
		}
		out = append(out, data(c.Exact[i], text))
	}
	return out
}
