package frontback_test

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/why"
)

// Example charges jobs by the tapes that they mount, with a benefit function of its own.
func Example() {
	functions := frontback.Builtin()
	err := functions.Register("tapes", func(p frontback.Parameters) (frontback.Benefit, error) {
		return func(u frontback.Use, group string) float64 { return u.Resources["tapes"] * p.Amount }, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tapes, err := functions.New("tapes", frontback.Parameters{Amount: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	book, err := frontback.New(frontback.Settings{
		Groups:   []frontback.Group{{Name: "physics", Weight: 75}, {Name: "biology", Weight: 25}},
		Priority: []string{"daq"},
		Levels:   []int64{300, 200, 100}, // back, front, daq: for a queue that serves small numbers first
		Benefit:  tapes,
		Window:   7 * 24 * time.Hour,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	for i, group := range []string{"physics", "biology", "physics", "daq"} {
		use := frontback.Use{Resources: map[string]float64{"tapes": float64(i + 1)}}
		d, err := book.Submit(frontback.Job{ID: int64(i + 1), Group: group, Estimate: use}, now)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(d.Text(), why.Verified(frontback.Verify(&d)))
	}
	// The second job mounted one tape instead of two; the third failed.
	one := frontback.Use{Resources: map[string]float64{"tapes": 1}}
	for id, how := range map[int64]frontback.Outcome{2: frontback.Done, 3: frontback.Failed} {
		if _, err := book.End(id, how, &one, now.Add(time.Hour)); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, s := range book.Standings(now.Add(time.Hour)) {
		fmt.Printf("%s has %v\n", s.Group, s.Benefit)
	}
	// Output:
	// job 1 of physics goes to the back (priority 300): with it physics has (0 + 10) / (0 + 10) = 1, above its 0.75. true
	// job 2 of biology goes to the back (priority 300): with it biology has (0 + 20) / (10 + 20) = 0.667, above its 0.25. true
	// job 3 of physics goes to the front (priority 200): with it physics has (10 + 30) / (30 + 30) = 0.667, not above its 0.75. true
	// job 4 of daq goes before all fair-share groups: daq is a priority group (priority 100). true
	// physics has 10
	// biology has 10
	// daq has 40
}
