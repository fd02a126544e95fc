package plot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// samples returns pictures of every sort, of invented numbers, at any width. People review their golden
// files.
func samples(width float64) map[string]Figure {
	return map[string]Figure{
		"lines":   sampleLines(width),
		"steps":   sampleSteps(width),
		"shares":  sampleShares(width),
		"cdf":     sampleCDF(width),
		"bars":    sampleBars(width),
		"nodes":   sampleNodes(width),
		"procs":   sampleProcessors(width),
		"fourjob": sampleFourJobs(width),
		"history": sampleHistory(width),
		"bullet":  Bullet{Name: "physics <b>", Unit: "cpu", Bar: 24, Back: 46, Mark: 38.4, Point: 36, Want: 60, To: 64},
		"pieces": Pieces{Title: "ahead", Unit: "cpu", Width: width,
			Parts: []Piece{{"biology/epi", 32, 1}, {"physics/<curie>", 24, 2000}, {"sim", 12, 6}, {"a", 2, 1}, {"b", 1, 1},
				{"c", 1, 1}, {"d", 3, 9}, {"e", 2, 2}}},
		"spans": Spans{Width: width, Rows: []Span{{Name: "unchanged", By: new(4.5 * hour), Likely: true, Early: hour,
			Middle: 2 * hour, Late: 4 * hour}, {Name: "changed", Text: "no estimate: tasks ahead have no time limit"}}},
		"spark": Sparkline{Says: "physics <b>", From: 0, To: 10,
			Area: []Point{{0, 3}, {2, 5}, {4, math.NaN()}, {6, 8}, {8, 1}, {9, math.NaN()}}, Line: []Point{{0, 4}, {9, 4}}},
		"empty": Chart{Title: "Queue depth", Width: width, X: Axis{Unit: Seconds}, Series: []Series{{Name: "fifo"}}},
	}
}

func sampleLines(width float64) Figure {
	f := Chart{Title: "Utilization by day", Width: width,
		X: Axis{Label: "time since the first submission", Unit: Seconds}, Y: Axis{Label: "processors in use", Unit: Percent,
			To: 1}}
	for i, name := range []string{"fifo", "easy", "conservative", "fairtree+easy", "fair+easy", "deficit+easy",
		"lottery+easy"} {
		s := Series{Name: name}
		for d := range 120 {
			s.Points = append(s.Points, Point{float64(d) * day, 0.12*float64(i) + 0.1 + 0.08*math.Sin(float64(d+7*i)/9)})
		}
		f.Series = append(f.Series, s)
	}
	return f
}

func sampleSteps(width float64) Figure {
	rng := rand.New(rand.NewPCG(1, 1))
	f := Chart{Title: "Queue depth", Note: "Waiting jobs by policy; the machine has 100 processors.", Width: width,
		Height: 260,
		X:      Axis{Label: "time", Unit: Seconds}, Y: Axis{Label: "waiting jobs"}}
	for i, name := range []string{"fifo", "easy"} {
		s := Series{Name: name, Step: true, Fill: i == 0}
		y := 0.0
		for x := 0.0; x < 60*hour; x += 900 {
			y = max(0, y+rng.NormFloat64()*float64(40-25*i))
			s.Points = append(s.Points, Point{x, math.Round(y)})
		}
		f.Series = append(f.Series, s)
	}
	return f
}

func sampleShares(width float64) Figure {
	entitled := Series{Name: "entitled", Step: true,
		Points: []Point{{0, 0.6}, {6 * hour, 1}, {9 * hour, 0.6}, {20 * hour, 0.4}, {24 * hour, 0.4}}}
	used := Series{Name: "used", Step: true}
	for i := range 97 {
		x := float64(i) * 900
		used.Points = append(used.Points, Point{x, 0.55 + 0.35*math.Sin(x/12000)})
	}
	return Chart{Title: "physics: share against entitlement", Width: width, Height: 240, X: Axis{Unit: Seconds},
		Y:      Axis{Unit: Percent, To: 1},
		Series: []Series{entitled, used}, Gap: &Gap{Less: "owed", More: "borrowed"}}
}

func sampleCDF(width float64) Figure {
	rng := rand.New(rand.NewPCG(2, 2))
	f := CDF{Title: "Waits", Note: "Part of the jobs that waited at most this long.", Width: width,
		X: Axis{Label: "wait (logarithmic)", Unit: Seconds, Log: true}}
	for i, name := range []string{"fifo", "easy", "fairtree+easy"} {
		var values []float64
		for range 20000 {
			if rng.Float64() < 0.2*float64(i+1) {
				values = append(values, 0)
				continue
			}
			values = append(values, math.Exp(9.5-float64(i)+1.7*rng.NormFloat64()))
		}
		f.Samples = append(f.Samples, Sample{Name: name, Values: values})
	}
	return f
}

func sampleBars(width float64) Figure {
	return Bars{Title: "Mean wait by user", Width: width, Unit: Seconds, Series: []string{"fifo", "easy", "fair+easy"},
		Groups: []Group{
			{"markov", []float64{33480, 7202, 8100}}, {"julie", []float64{30100, 3020, 640}},
			{"a user with a very long name indeed, and more", []float64{54321, 8000, 0}},
			{`<script>alert("x")</script>`, []float64{1, 45, 3600}}}}
}

func sampleNodes(width float64) Figure {
	return Gantt{Title: "Nodes", Note: "From six hours ago until six hours from now.", Width: width,
		X:    Axis{Unit: Seconds},
		Rows: []string{"n1", "n2", "n3", "gpu-node-with-a-long-name-01", "n5"}, Keys: []string{"physics", "biology"},
		Boxes: []Box{
			{Row: 0, Span: 2, From: 0, To: 3 * hour, Label: "1029", Key: "physics", Tip: "1029 neutro3\nphysics, 2 nodes, 3h"},
			{Row: 2, From: 0, To: 5 * hour, Label: "1031", Key: "biology"},
			{Row: 3, From: hour, To: 1.2 * hour, Label: "1033", Key: "biology", Kind: Past},
			{Row: 3, From: 1.3 * hour, To: 9 * hour, Label: "1034_17", Key: "somebody else"},
			{Row: 0, From: 5 * hour, To: 9 * hour, Label: "1037", Key: "biology", Kind: Reservation},
			{Row: 4, From: 7 * hour, To: 12 * hour, Label: "maintenance", Kind: Reservation},
			{Row: 4, From: 0, To: 7 * hour, Label: "free until 7h", Kind: Window},
			{Row: 1, From: 0, To: 3 * hour, Label: "3 of 5", Kind: Level, Part: [2]float64{0.4, 1}}, {Row: 1, From: 3 * hour,
				To: 6 * hour, Label: "1 of 5", Kind: Reservation, Part: [2]float64{0.8, 1}}}}
}

func sampleProcessors(width float64) Figure {
	rng := rand.New(rand.NewPCG(3, 3))
	f := Gantt{Title: "Schedule", Width: width, Height: 360, Count: 100, X: Axis{Label: "time", Unit: Seconds}}
	for i := range 12 {
		f.Keys = append(f.Keys, fmt.Sprint("user", i+1))
	}
	for row := 0; row < 100; {
		span := min(1+rng.IntN(16), 100-row)
		for x := 0.0; x < 2*day; {
			run := 600 + rng.ExpFloat64()*6*hour
			k := rng.IntN(14) + 1
			f.Boxes = append(f.Boxes, Box{Row: row, Span: span, From: x, To: x + run, Label: fmt.Sprint(1000 + len(f.Boxes)),
				Key: fmt.Sprint("user", k), Tip: "a job"})
			x += run + rng.ExpFloat64()*hour
		}
		row += span
	}
	return f
}

func sampleFourJobs(width float64) Figure {
	return Gantt{Title: "FCFS", Width: width, Rows: []string{"node4", "node3", "node2", "node1"}, X: Axis{Unit: Seconds},
		Keys: []string{"markov", "julie", "mendle"},
		Boxes: []Box{
			{Row: 2, Span: 2, From: 0, To: 2 * hour, Label: "123", Key: "markov"}, {Row: 2, Span: 2, From: 2 * hour,
				To: 4 * hour, Label: "124", Key: "markov"},
			{Row: 3, From: 4 * hour, To: 5 * hour, Label: "125", Key: "julie"}, {Row: 0, Span: 4, From: 5 * hour, To: 9 * hour,
				Label: "126", Key: "mendle"}}}
}

// sampleHistory is the history of a pool over two days, with hours in which no server ran.
func sampleHistory(width float64) Figure {
	from := 1_700_000_000.0
	due, run := Series{Name: "due", Step: true, Gaps: true}, Series{Name: "running", Step: true, Gaps: true, Fill: true}
	for x := from; x < from+2*day; x += 600 {
		a, b := 8+4*math.Sin((x-from)/20000), 8+5*math.Sin((x-from)/15000)
		if x > from+20*hour && x < from+26*hour || x > from+40*hour && x < from+40.5*hour {
			a, b = math.NaN(), math.NaN()
		}
		due.Points, run.Points = append(due.Points, Point{x, a}), append(run.Points, Point{x, b})
	}
	return Stack{
		Chart{Title: "Due and running: physics", Width: width, Height: 230,
			X: Axis{Unit: Clock, From: from, To: from + 2*day}, Y: Axis{Label: "cpu"},
			Series: []Series{due, run}, Gap: &Gap{Less: "owed", More: "borrowed"}},
		Chart{Title: "A year and a half", Width: width, Height: 160,
			X:      Axis{Unit: Clock, From: from, To: from + 500*day, Zone: time.FixedZone("there", 7200)},
			Series: []Series{{Name: "some", Points: []Point{{from, 1}, {from + 200*day, 3}, {from + 500*day, 2}}}}},
	}
}
