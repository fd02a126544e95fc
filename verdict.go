package fairlead

import (
	"fmt"

	"github.com/fairlead/fairlead/why"
)

// severity orders the reasons: what can never be first, then what only a person can
// change, then what time changes.
var severity = []why.Code{
	why.FitNever, why.LicenseNever, why.ReservationOver, why.ShareNone, why.GateHeld, why.NoNodes, why.GateAfter, why.GateBegin, why.GateReservation, why.GateJobTasks, why.GateMaxTasks, why.GateMax,
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
	if r.Text == "" {
		r.Text = fmt.Sprintf("%s of %s is full: %s of %s in use", g.Name, g.Where, g.Used, g.Limit)
	}
	return r
}

func verdictOf(c why.Code) why.Verdict {
	switch c {
	case why.FitNever, why.LicenseNever, why.ReservationOver:
		return why.Impossible
	case why.NoNodes, why.ShareNone:
		return why.NeedsAdmin
	case why.GateMax, why.GateMaxTasks, why.GateJobTasks, why.GateLicense, why.GateRate:
		return why.Limited
	}
	return why.AsDesigned
}
