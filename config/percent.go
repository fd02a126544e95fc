package config

import (
	"math"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// percent is a share of the amount that the parent pool gets, such as 30%. It is stored as a weight, which is
// equivalent if all siblings have a percentage.
var percent = kind[float64]{
	word:   "percentage",
	schema: described(object{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)?%$`}),
	read: func(r *reader, name string, n *node) (float64, bool) {
		text, ok := r.text(name, n)
		if !ok {
			return 0, false
		}
		v, ok := percentage(text)
		if !ok {
			r.errorf(n, "%s must be a percentage such as 30%%, got %s", name, n.describe())
		} else if share.CheckWeight(v) != nil || v > 100 {
			r.errorf(n, "%s must be above 0%% and at most 100%%, got %s", name, n.describe())
			ok = false
		}
		return v, ok
	},
	show: func(float64) *node { return nil }, // it is written as a weight
}

// load is a percentage for the children of a pool with the policy load. It may be 0, and the % sign may be left out.
var load = kind[float64]{
	word: "percentage",
	schema: described(object{"anyOf": []any{
		object{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)? *%?$`}, object{"type": "number", "minimum": 0,
			"maximum": 100},
	}}),
	read: func(r *reader, name string, n *node) (float64, bool) {
		text, ok := r.text(name, n)
		if !ok {
			return 0, false
		}
		v, err := parsePercent(text)
		if err != nil || v != 0 && share.CheckWeight(v) != nil || v > 100 {
			r.errorf(n, "%s must be a percentage from 0%% to 100%%, got %s", name, n.describe())
			return 0, false
		}
		return v, true
	},
	show: func(float64) *node { return nil }, // it is written as a weight
}

// parsePercent reads a percentage with or without the sign.
func parsePercent(text string) (float64, error) {
	return parseNumber(strings.TrimRight(strings.TrimSuffix(text, "%"), " "))
}

func percentage(text string) (float64, bool) {
	number, ok := strings.CutSuffix(text, "%")
	v, err := parseNumber(strings.TrimRight(number, " "))
	return v, ok && err == nil
}

// checkShares checks the pools of one level: if one has a share or load in percent, all must have one, and none a
// weight. The rest of the 100% goes to all of them in proportion.
func (r *reader) checkShares(pools []entry) {
	r.checkParts("share", pools)
	r.checkParts("load", pools)
}

func (r *reader) checkParts(word string, pools []entry) {
	var sum float64
	var first, last *node
	for _, e := range pools {
		s := e.value.get(word)
		if s == nil {
			continue
		}
		for _, other := range []string{"weight", "share"} {
			if other != word && e.value.get(other) != nil {
				r.errorf(s, "pool %s has both a %s and a %s; remove one of them", clip(e.key.text), other, word)
			}
		}
		if v, err := parsePercent(s.text); err == nil && v > 0 && v <= 100 &&
			(word == "load" || strings.HasSuffix(s.text, "%")) {
			sum += v
		}
		if last = s; first == nil {
			first = s
		}
	}
	if first == nil {
		return
	}
	all := true
	for _, e := range pools {
		if e.value.get(word) == nil {
			r.errorf(e.key, "pool %s has no %s, but its siblings have one; give one to all of them or to none",
				clip(e.key.text), word)
			all = false
		}
	}
	if all {
		r.checkSum(word, pools, sum, first, last)
	}
}

func (r *reader) checkSum(word string, pools []entry, sum float64, first, last *node) {
	const rounding = 1e-6
	var names []string
	for _, e := range pools {
		if len(names) == 5 {
			names = append(names[:4], "others")
			break
		}
		names = append(names, e.key.text)
	}
	who := strings.Join(names, ", ")
	plural := word + "s"
	switch {
	case word == "share" && sum > 100+rounding:
		r.errorf(last, "the %s of %s add up to %s%%, more than 100%%", plural, who, formatNumber(round(sum)))
	case sum > 0 && math.Abs(sum-100) > rounding:
		r.warnf(first, "the %s of %s add up to %s%%; they are scaled to 100%%",
			plural, who, formatNumber(round(sum)))
	}
}

func round(v float64) float64 { return float64(int64(v*1000+0.5)) / 1000 }
