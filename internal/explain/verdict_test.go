package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/why"
)

// A code without a severity would sort before codes of jobs that can never start.
func TestEveryCodeHasASeverity(t *testing.T) {
	seen := map[why.Code]int{}
	for _, code := range severity {
		seen[code]++
	}
	for _, e := range why.Codes() {
		if stop := strings.HasPrefix(string(e.Code), "stop."); !stop && seen[e.Code] != 1 {
			t.Errorf("%s stands %d times among the severities, want once", e.Code, seen[e.Code])
		}
	}
}

func TestReasonsStandInOrderOfSeverity(t *testing.T) {
	var closed []why.Gate
	for _, code := range slices.Backward(severity) {
		closed = append(closed, why.Gate{Code: code, Text: "closed"})
	}
	closed = append(closed, why.Gate{Code: why.GateRate, Text: "closed, too"})
	reasons := reasonsOf(closed)
	if len(reasons) != len(closed) {
		t.Fatalf("%d reasons for %d gates", len(reasons), len(closed))
	}
	rates := slices.Index(severity, why.GateRate)
	if reasons[0].Code != severity[0] || reasons[rates].Text != "closed" || reasons[rates+1].Text != "closed, too" {
		t.Errorf("reasons %v", reasons)
	}
}
