package config_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/config"
)

var bridgeOptions = []config.BridgeOption{{Name: "partition", Doc: "Which."}}

func TestParseBridge(t *testing.T) {
	b, err := config.ParseBridge("b.yaml", []byte(`
groups:
  physics: {weight: 50, pools: [physics, astro/x]}
  biology: {weight: 30}
  chemistry:
above: [daq, calib]
benefit: {function: resources, weights: {cpu: 1, gpu: 10.5}, groups: {physics: 0.5}}
window: 2d
levels: [10, 20, 30, 40]
slots: 500
resources: {tape: 3}
options: {partition: long}
`), bridgeOptions)
	if err != nil {
		t.Fatal(err)
	}
	if b.Feed != config.FeedAtOnce || b.Charge != config.ChargeStart || b.Window != 48*time.Hour || b.HalfLife != 0 ||
		b.Slots != 500 || b.Lease != 24*time.Hour || b.Poll != time.Second {
		t.Errorf("got %+v", b)
	}
	want := []config.BridgeGroup{{"physics", 50, []string{"physics", "astro/x"}}, {"biology", 30, nil},
		{"chemistry", 1, nil}}
	if !reflect.DeepEqual(b.Groups, want) || !reflect.DeepEqual(b.Above, []string{"daq", "calib"}) ||
		!reflect.DeepEqual(b.Levels, []int64{10, 20, 30, 40}) {
		t.Errorf("got %+v, %v, %v", b.Groups, b.Above, b.Levels)
	}
	if b.Options["partition"] != "long" || b.Benefit.Weights["gpu"] != 10.5 || b.Benefit.Groups["physics"] != 0.5 ||
		b.Resources["tape"] != 3 || !b.Given("slots") || b.Given("lease") {
		t.Errorf("got %+v", b)
	}
}

// TestBridgeProblems: each error names its place.
func TestBridgeProblems(t *testing.T) {
	for text, want := range map[string]string{
		"groups: {a: {weigth: 3}}":       `b.yaml:1:14: unknown field "weigth" - did you mean "weight"?`,
		"groups: {a: {weight: -1}}":      "b.yaml:1:22: weight must be >= 0, got -1",
		"groups: {a: {weight: 0}}":       "b.yaml:1:9: all groups have the weight 0",
		"feed: fast":                     "b.yaml:1:7: ",
		"levels: [1, 3, 2]\nabove: [x]":  "b.yaml:1:16: levels must all rise or all fall; 2 after 3 breaks that order",
		"levels: [1, 2]\nabove: [x]":     "b.yaml:1:9: levels has 2 entries, but needs 3: one for the back, one for",
		"groups: {x: {}}\nabove: [x]":    `b.yaml:2:8: "x" is also a fair-share group`,
		"half_life: 1d\nwindow: 1d":      "b.yaml:2:1: both a window and a half_life",
		"options: {partion: x}":          `b.yaml:1:11: unknown field "partion" - did you mean "partition"?`,
		"benefit: {function: resources}": "b.yaml:1:10: the function resources needs weights",
		"above: [a, a]":                  `b.yaml:1:12: "a" is given twice`,
		"lease: 1s":                      "b.yaml:1:8: lease must be at least 1m",
		"pools: {a: {}}":                 "b.yaml:1:1: ",
		"groups: {a: {}}\nbenefit: {function: cpu, weights: {x: 1}}": "b.yaml:2:21: ",
	} {
		_, err := config.ParseBridge("b.yaml", []byte(text), bridgeOptions)
		var found config.Problems
		if !errors.As(err, &found) || !strings.Contains(found.Text(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	b, err := config.ParseBridge("b.yaml", []byte("feed: just-in-time\ngroups: {a: {}}"), nil)
	if err != nil || len(b.Problems) != 1 || !strings.Contains(b.Problems[0].Msg, "groups has no effect") {
		t.Errorf("got %+v, %v", b, err)
	}
}
