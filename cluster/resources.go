package cluster

import (
	"maps"
	"slices"
)

// Vector holds amounts, indexed by the numbers of the resources in a [Cluster]. A missing tail is zero. Number 0 is
// the unit that shares are counted in.
type Vector []int64

func (v Vector) at(i int) int64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}

// Covers reports whether v has at least need of every needed resource. A negative amount of a resource that is not
// needed does not matter.
func (v Vector) Covers(need Vector) bool {
	for i, n := range need {
		if n > 0 && n > v.at(i) {
			return false
		}
	}
	return true
}

// trimmed is the vector without trailing zeros.
func (v Vector) trimmed() Vector {
	for len(v) > 0 && v[len(v)-1] == 0 {
		v = v[:len(v)-1]
	}
	return v
}

// holds is the number of tasks that fit into the vector.
func (v Vector) holds(need Vector) int {
	n := int64(-1)
	for r, a := range need {
		if a <= 0 {
			continue
		}
		if k := max(0, v.at(r)) / a; n < 0 || k < n {
			n = k
		}
	}
	return int(max(0, n))
}

// resources numbers the resources by their names. Number 0 is the unit.
type resources struct {
	names  []string
	number map[string]int
}

func newResources(unit string) *resources {
	r := &resources{number: map[string]int{}}
	r.index(unit)
	return r
}

// unit is the name of the resource that shares are counted in.
func (r *resources) unit() string { return r.names[0] }

// index is the index of a resource in a [Vector]. An unknown resource gets a new number.
func (r *resources) index(name string) int {
	i, ok := r.number[name]
	if !ok {
		i = len(r.names)
		r.names = append(r.names, name)
		r.number[name] = i
	}
	return i
}

// vector converts named amounts to a vector.
func (r *resources) vector(a Amounts) Vector {
	var v Vector
	for _, name := range slices.Sorted(maps.Keys(a)) {
		i := r.index(name)
		for len(v) <= i {
			v = append(v, 0)
		}
		v[i] = a[name]
	}
	return v
}

// amounts converts the non-zero amounts of a vector to named amounts.
func (r *resources) amounts(v Vector) Amounts {
	a := Amounts{}
	for i, n := range v {
		if n != 0 {
			a[r.names[i]] = n
		}
	}
	return a
}

// request converts the amounts of a request to a vector. Every task occupies at least one unit.
func (r *resources) request(a Amounts) Vector {
	v := r.vector(WithTypes(a))
	if len(v) == 0 {
		v = Vector{0}
	}
	v[0] = max(1, v[0])
	for len(v) > 1 && v[len(v)-1] == 0 {
		v = v[:len(v)-1]
	}
	return v
}

// asked returns the amounts of a request, including implied amounts. Unlike request it numbers no new resource.
func (r *resources) asked(a Amounts) Amounts {
	need := Amounts{}
	maps.Copy(need, WithTypes(a))
	need[r.unit()] = max(1, need[r.unit()])
	return need
}

// has is the amount of a resource in a vector; 0 for an unknown resource.
func (r *resources) has(v Vector, name string) int64 {
	if i, known := r.number[name]; known {
		return v.at(i)
	}
	return 0
}

// each is how many times the needed amounts fit into a node's capacity.
func (r *resources) each(capacity Vector, need Amounts) int64 {
	each := int64(-1)
	for name, n := range need {
		if n > 0 {
			fit := max(0, r.has(capacity, name)) / n
			if each < 0 || fit < each {
				each = fit
			}
		}
	}
	return max(0, each)
}

func (r *resources) clone() *resources {
	return &resources{names: slices.Clone(r.names), number: maps.Clone(r.number)}
}
