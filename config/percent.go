package config

import (
	"strings"

	"github.com/fairlead/fairlead/share"
)

// percent is a share of what the pool above gets, such as 30%. It is kept as a weight,
// which comes to the same when all siblings give one.
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

func percentage(text string) (float64, bool) {
	number, ok := strings.CutSuffix(text, "%")
	v, err := parseNumber(strings.TrimRight(number, " "))
	return v, ok && err == nil
}

// checkShares looks at the pools of one level: if any has a share in percent, all must
// have one, and no weight. What is left of 100% goes to all of them in proportion.
func (r *reader) checkShares(pools []entry) {
	var sum float64
	var first, last *node
	for _, e := range pools {
		s := e.value.get("share")
		if s == nil {
			continue
		}
		if e.value.get("weight") != nil {
			r.errorf(s, "pool %s has both a weight and a share; give one of them", clip(e.key.text))
		}
		if v, ok := percentage(s.text); ok && v > 0 && v <= 100 {
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
		if e.value.get("share") == nil {
			r.errorf(e.key, "pool %s has no share, but others beside it have; give all of them one, or none", clip(e.key.text))
			all = false
		}
	}
	if all {
		r.checkSum(pools, sum, first, last)
	}
}

func (r *reader) checkSum(pools []entry, sum float64, first, last *node) {
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
	switch {
	case sum > 100+rounding:
		r.errorf(last, "the shares of %s add up to %s%%, more than 100%%", who, formatNumber(round(sum)))
	case sum > 0 && sum < 100-rounding:
		r.warnf(first, "the shares of %s add up to %s%%; they are taken in proportion, so that they come to 100%%",
			who, formatNumber(round(sum)))
	}
}

func round(v float64) float64 { return float64(int64(v*1000+0.5)) / 1000 }
