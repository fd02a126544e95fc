package fairlead

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/why"
)

// severity orders the reasons: what can never be first, then what only a person can
// change, then what time changes.
var severity = []why.Code{
	why.FitNever, why.LicenseNever, why.GateNever, why.ReservationOver, why.ShareNone, why.GateHeld, why.GatePaused, why.NoNodes, why.GateAfter, why.GateBegin, why.GateReservation, why.GateJobTasks, why.GateMaxTasks, why.GateMax,
	why.GateLicense, why.GateRate, why.PolicyMaint, why.PolicyReservation, why.FitReserved, why.FitNow,
}

func reasonsOf(closed []why.Gate) []why.Reason {
	var out []why.Reason
	for _, code := range severity {
		for _, g := range closed {
			if g.Code == code {
				out = append(out, gateReason(g))
			}
		}
	}
	return out
}

func gateReason(g why.Gate) why.Reason {
	e, _ := why.Explain(g.Code)
	r := why.Reason{Code: g.Code, Text: g.Text, Next: e.Next}
	if g.Code == why.GateJobTasks {
		r.Text = g.Used + " of its tasks run, as many as may at once"
	}
	if g.Code == why.GatePaused {
		r.Next = strings.Replace(r.Next, "POOL", g.Where, 1)
		if r.Until = g.Next; r.Until != nil {
			r.Next = strings.Replace(r.Next, "go on", "go on before", 1)
		}
	}
	if g.Code == why.GateNever && r.Text == "" {
		r.Text = fmt.Sprintf("it asks for %s %s, and %s may have %s", g.Need, strings.TrimPrefix(g.Name, "max "), g.Where, g.Limit)
	}
	if r.Text == "" {
		r.Text = fmt.Sprintf("%s of %s is full: %s of %s in use", g.Name, g.Where, g.Used, g.Limit)
	}
	return r
}

// inWords writes the amounts of gates as people do: 4G of memory.
func inWords(gates []why.Gate) []why.Gate {
	for i := range gates {
		g := &gates[i]
		name, ok := strings.CutPrefix(g.Name, "max ")
		if !ok {
			continue
		}
		for _, number := range []*string{&g.Used, &g.Limit, &g.Need} {
			if n, err := strconv.ParseInt(*number, 10, 64); err == nil {
				*number = quantity(name, n)
			}
		}
	}
	return gates
}

func verdictOf(r why.Reason) why.Verdict {
	switch r.Code {
	case why.FitNever, why.LicenseNever, why.GateNever, why.ReservationOver:
		return why.Impossible
	case why.NoNodes, why.ShareNone:
		return why.NeedsAdmin
	case why.GatePaused:
		if r.Until == nil {
			return why.NeedsAdmin
		}
		return why.Limited // it ends by itself
	case why.GateMax, why.GateMaxTasks, why.GateJobTasks, why.GateLicense, why.GateRate:
		return why.Limited
	}
	return why.AsDesigned
}
