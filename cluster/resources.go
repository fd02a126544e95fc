package cluster

import (
	"maps"
	"slices"
)

// Vector holds amounts by the number that a [Cluster] gave each resource. A missing
// tail is zero. Number 0 is the unit, in which shares are counted.
type Vector []int64

func (v Vector) at(i int) int64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}

// Covers reports whether v has at least need of everything that is needed: where nothing is,
// it makes no difference that there is less than nothing.
func (v Vector) Covers(need Vector) bool {
	for i, n := range need {
		if n > 0 && n > v.at(i) {
			return false
		}
	}
	return true
}

// trimmed is the vector without zeros at its end.
func (v Vector) trimmed() Vector {
	for len(v) > 0 && v[len(v)-1] == 0 {
		v = v[:len(v)-1]
	}
	return v
}

// holds is how many tasks fit into the vector.
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

// unit is the name of the resource in which shares are counted.
func (r *resources) unit() string { return r.names[0] }

// index is the place of a resource in a [Vector]. Unknown resources get one.
func (r *resources) index(name string) int {
	i, ok := r.number[name]
	if !ok {
		i = len(r.names)
		r.names = append(r.names, name)
		r.number[name] = i
	}
	return i
}

// vector numbers the amounts.
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

// amounts names the vector's non-zero amounts.
func (r *resources) amounts(v Vector) Amounts {
	a := Amounts{}
	for i, n := range v {
		if n != 0 {
			a[r.names[i]] = n
		}
	}
	return a
}

// request is the vector of a request. Every task occupies at least one unit.
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

// asked is a request with all that it implies. Unlike request it gives no resource a number.
func (r *resources) asked(a Amounts) Amounts {
	need := Amounts{}
	maps.Copy(need, WithTypes(a))
	need[r.unit()] = max(1, need[r.unit()])
	return need
}

// has is how much of a resource a vector has; the cluster may not know the resource.
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
