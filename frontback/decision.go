package frontback

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/why"
)

// Places for a job.
const (
	Back  = "back"
	Front = "front"
	Above = "above" // for priority groups
)

// Formula decides for a job of a fair-share group: the job goes to the front if the result is at most the
// fraction of the group.
var Formula = why.NewFormula("frontback", "(received + benefit) / (all + benefit)", "front if at most the fraction",
	why.Term{Name: "received", Doc: "what its group has received or been promised, B[g]"},
	why.Term{Name: "benefit", Doc: "what the job is estimated to take, B(j, g)"},
	why.Term{Name: "all", Doc: "what all fair-share groups have received or been promised"})

// Rung is a level of the QS.
type Rung struct {
	Name     string `json:"name"`            // back, front or above
	Group    string `json:"group,omitempty"` // the priority group whose level it is
	Priority int64  `json:"priority"`        // for the QS
}

// Decision says where a job goes, with the numbers that were compared. [Verify] can recompute it from them
// alone.
type Decision struct {
	Job      int64  `json:"job"`
	Group    string `json:"group"`
	Place    string `json:"place"`    // back, front or above
	Priority int64  `json:"priority"` // for the QS
	Formula  string `json:"formula,omitempty"`
	// Terms are the values of the terms in the formula, Share is its result, and Fraction is compared with
	// Share. If nothing has been received and the job takes nothing, the share is 0.
	Terms    map[string]why.Number `json:"terms,omitempty"`
	Share    why.Number            `json:"share"`
	Fraction why.Number            `json:"fraction"`
	Benefit  why.Number            `json:"benefit"` // benefit of the estimate
	Levels   []Rung                `json:"levels"`  // of the QS, from the back up; shared, so do not change it
}

// share computes the formula; 0 of 0 is 0.
func share(eval func([]float64) float64, received, benefit, all float64) float64 {
	if float64(all+benefit) == 0 {
		return 0
	}
	return eval([]float64{received, benefit, all})
}

// Text returns the decision as a sentence.
func (d *Decision) Text() string {
	if d.Place == Above {
		return fmt.Sprintf("job %d of %s goes before all fair-share groups: %s is a priority group (priority %d).", d.Job,
			d.Group, d.Group, d.Priority)
	}
	rule, side := "not above", "front"
	if d.Place == Back {
		rule, side = "above", "back"
	}
	t := d.Terms
	a, b := why.ShortPair(float64(d.Share), float64(d.Fraction))
	return fmt.Sprintf("job %d of %s goes to the %s (priority %d): with it %s has (%s + %s) / (%s + %s) = %s, %s its %s.",
		d.Job, d.Group, side, d.Priority, d.Group,
		why.Short(float64(t["received"])), why.Short(float64(t["benefit"])), why.Short(float64(t["all"])),
		why.Short(float64(t["benefit"])), a, rule, b)
}

// Verify recomputes a decision from its own numbers. It needs no book.
func Verify(d *Decision) []why.Check {
	checks := []why.Check{verifyLevels(d)}
	if d.Place != Above {
		checks = append(checks, verifyShare(d))
	}
	return append(checks, verifyPlace(d))
}

func verifyLevels(d *Decision) why.Check {
	c := why.Check{What: "levels", OK: len(d.Levels) >= 2 && d.Levels[0].Name == Back && d.Levels[1].Name == Front}
	var names []string
	for i, r := range d.Levels {
		names = append(names, strings.TrimSpace(r.Name+" "+r.Group))
		c.OK = c.OK && (i < 2 || r.Name == Above && r.Group != "")
		if i > 0 && len(d.Levels) > 1 {
			rises := d.Levels[1].Priority > d.Levels[0].Priority
			c.OK = c.OK && r.Priority != d.Levels[i-1].Priority && (r.Priority > d.Levels[i-1].Priority) == rises
		}
	}
	c.Text = "from the back up: " + strings.Join(names, ", ")
	return c
}

func verifyShare(d *Decision) why.Check {
	c := why.Check{What: "share"}
	names := []string{"received", "benefit", "all"}
	eval, err := why.ParseFormula(d.Formula, names)
	if err != nil {
		c.Text = err.Error()
		return c
	}
	values := make([]float64, len(names))
	for i, n := range names {
		values[i] = float64(d.Terms[n])
	}
	got := share(eval, values[0], values[1], values[2])
	c.OK = got == float64(d.Share) && values[1] == float64(d.Benefit)
	c.Text = fmt.Sprintf("%s = %v; stated is %v", d.Formula, got, float64(d.Share))
	return c
}

func verifyPlace(d *Decision) why.Check {
	want := Rung{}
	for i, r := range d.Levels {
		if i >= 2 && r.Group == d.Group {
			want = r
		}
	}
	if want.Name == "" && len(d.Levels) >= 2 {
		if want = d.Levels[0]; d.Share <= d.Fraction {
			want = d.Levels[1]
		}
	}
	return why.Check{What: "place", OK: want.Name == d.Place && want.Priority == d.Priority,
		Text: fmt.Sprintf("%s, priority %d; stated is %s, priority %d", want.Name, want.Priority, d.Place, d.Priority)}
}

func number(x float64) why.Number { return why.Number(x) }

func terms(received, benefit, all float64) map[string]why.Number {
	return map[string]why.Number{"received": number(received), "benefit": number(benefit), "all": number(all)}
}
