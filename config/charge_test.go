package config_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/sched"
)

func TestCharge(t *testing.T) {
	for text, want := range map[string]sched.Charge{
		"":                   {},
		"charge: dominant\n": {Dominant: true},
		"charge: {cpu: 1, mem: 0.25/G, gpu: 20}\n": {Per: map[string]float64{"cpu": 1, "mem": 0.25 / (1 << 30), "gpu": 20}},
		"charge: {cpu: 1, \"gpu:a100\": 2.5}\ncharge_by: max\n": {Per: map[string]float64{"cpu": 1, "gpu:a100": 2.5},
			Largest: true},
		"unit: slots\ncharge: {slots: 0.5, mem: 1/M}\n": {Per: map[string]float64{"slots": 0.5, "mem": 1.0 / (1 << 20)}},
	} {
		c, err := config.Parse("f", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := c.Shares.Sched.Charge; !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
		again, err := config.Parse("f", c.YAML())
		if err != nil || !reflect.DeepEqual(again.Shares.Sched.Charge, want) || again.Shares.Hash != c.Shares.Hash {
			t.Errorf("%q: written and read again it is %+v, %v", text, again.Shares.Sched.Charge, err)
		}
		if text == "" && strings.Contains(string(c.YAML()), "charge") {
			t.Error("the default stands in the canonical form")
		}
	}
	for text, want := range map[string]string{
		"charge: {gpu: 20}\n":          "needs a number above 0 for cpu, the unit",
		"charge: {cpu: 0, gpu: 20}\n":  "needs a number above 0 for cpu, the unit",
		"charge: dominance\n":          "must be dominant, or resources with charges",
		"charge: {cpu: 1, mem: 1/5}\n": "such as 0.25/G; got 1/5",
		"charge: {cpu: -1}\n":          "must be a number of at least 0",
		"charge: {cpu: 1, exec: 1}\n":  "is reserved",
		"charge_by: largest\n":         "largest",
	} {
		if _, err := config.Parse("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"charge: {cpu: 1, mem: 0.25}\n": "memory is counted in bytes",
		"charge_by: max\n":              "no effect",
	} {
		if c, err := config.Parse("f", []byte(text)); err != nil || len(c.Problems) != 1 ||
			!strings.Contains(c.Problems[0].Msg, want) {
			t.Errorf("%q: got %v, %v, want %q", text, c, err, want)
		}
	}
}
