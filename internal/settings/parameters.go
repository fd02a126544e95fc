package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// Parameters are the parameters of the current configuration that Scoot's interface exposes.
type Parameters struct {
	Load       api.ClassLoad
	Requestors api.RequestorMap
	Duration   api.RebalanceDuration
	Threshold  api.RebalanceThreshold
	others     []string // rules of placement that a requestor map cannot contain
	weights    []string // classes with a weight instead of a load
}

// Parameters returns the present parameters.
func (k *Keeper) Parameters() Parameters {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.now
	p := Parameters{Load: api.ClassLoad{Percents: map[string]float64{}},
		Requestors: api.RequestorMap{Rules: []api.RequestorRule{}}}
	root := &c.Shares.Sched.Root
	for i := range root.Pools {
		p.Load.Percents[root.Pools[i].Name] = root.Pools[i].Weight
		if !c.Given("pools", root.Pools[i].Name, "load") && c.Given("pools", root.Pools[i].Name, "weight") {
			p.weights = append(p.weights, root.Pools[i].Name)
		}
	}
	for i, r := range c.Rules {
		expr, only := r.Match["requestor"]
		if !only || len(r.Match) > 1 || strings.Contains(r.Pool, "{") {
			p.others = append(p.others, fmt.Sprint(i+1))
			continue
		}
		p.Requestors.Rules = append(p.Requestors.Rules, api.RequestorRule{Requestor: expr, Class: r.Pool})
	}
	p.Duration.Seconds = root.Options.Rebalance.MinDuration.Seconds()
	p.Threshold.Percent = root.Options.Rebalance.Threshold
	return p
}

// invalid returns an error about a parameter.
func invalid(field, format string, args ...any) error {
	return &queue.Invalid{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// SetLoad returns the settings for a map of loads. The map replaces the present one: it must name all
// classes, and it creates new ones.
func SetLoad(now Parameters, to api.ClassLoad) (r api.SettingsRequest, err error) {
	for _, name := range slices.Sorted(maps.Keys(now.Load.Percents)) {
		if _, given := to.Percents[name]; !given {
			return r, invalid("percents", "the class %s is missing; name all classes, and give 0 to classes without "+
				"a load", name)
		}
	}
	r.New = true
	for _, name := range slices.Sorted(maps.Keys(to.Percents)) {
		if err := share.CheckName(name); err != nil {
			return r, invalid("percents", "%v", err)
		}
		path := config.JoinPath("pools", name)
		if slices.Contains(now.weights, name) {
			r.Settings = append(r.Settings, api.SettingValue{Path: path + ".weight"})
		}
		r.Settings = append(r.Settings, api.SettingValue{Path: path + ".load", Value: number(to.Percents[name]) + "%"})
	}
	return r, nil
}

// SetRequestors returns the settings for a requestor map.
func SetRequestors(now Parameters, to api.RequestorMap) (r api.SettingsRequest, err error) {
	if len(now.others) > 0 {
		return r, invalid("rules", "the placement has rules with more than a requestor and its class (rule %s); replace all rules with: fairlead config set placement=@FILE",
			strings.Join(now.others, ", "))
	}
	rules := []map[string]string{}
	for _, x := range to.Rules {
		rules = append(rules, map[string]string{"requestor": x.Requestor, "pool": x.Class})
	}
	text, err := json.Marshal(rules) // JSON is also YAML
	r.Settings = []api.SettingValue{{Path: "placement", Value: string(text)}}
	return r, err
}

// SetDuration returns the settings for the minimum duration of a rebalance.
func SetDuration(now Parameters, to api.RebalanceDuration) (api.SettingsRequest, error) {
	return rebalance(now.Threshold.Percent, to.Seconds)
}

// SetThreshold returns the settings for the threshold of a rebalance.
func SetThreshold(now Parameters, to api.RebalanceThreshold) (api.SettingsRequest, error) {
	return rebalance(to.Percent, now.Duration.Seconds)
}

// rebalance returns one setting for both parameters: the file takes them only together. If one is 0, there is
// no rebalancing.
func rebalance(threshold, seconds float64) (r api.SettingsRequest, err error) {
	d := units.FormatDuration(time.Duration(seconds * float64(time.Second)).Round(time.Second))
	if seconds == 0 {
		d = "0"
	}
	r.Settings = []api.SettingValue{{Path: "rebalance",
		Value: fmt.Sprintf("{threshold: %s, min_duration: %s}", number(threshold), d)}}
	return r, nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
