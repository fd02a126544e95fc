package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"

	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/sim"
)

// Report compares one or several schedules of one workload.
type Report struct {
	Title   string
	Command string   // the command that repeats the report
	Notes   []string // omissions from the workload, and changes to it
	Runs    []Run
	// Only is the stretch of time that the Gantt charts show; if it is nil, Window chooses one.
	Only *Stretch
}

// Stretch is a part of a schedule, in seconds of its workload.
type Stretch struct{ From, To int64 }

// within returns the part of the stretch between two times, and false if that part is empty.
func (s Stretch) within(from, to int64) (Stretch, bool) {
	s.From, s.To = max(s.From, from), min(s.To, to)
	return s, s.From < s.To
}

// Run is the result of the workload under a policy.
type Run struct {
	Name string
	*sim.Result
}

// The page loads nothing from elsewhere.
var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	sortJS string
	pageJS = plot.Script + "{\n" + sortJS + "}\n"

	page = template.Must(template.New("page").Funcs(template.FuncMap{"count": func(n int) string { return plot.Count(float64(n)) }}).Parse(pageHTML))
)

// style is the style sheet of all self-contained pages.
var style = plot.CSS + plot.Print + pageCSS

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// picture holds a wide and a narrow drawing; pages show the one that fits.
type picture struct {
	Wide, Narrow template.HTML
}

const (
	wide   = 900
	narrow = 350
)

// both draws a picture at both widths.
func both(draw func(width float64) plot.Figure) picture {
	return picture{template.HTML(plot.Inline(draw(wide))), template.HTML(plot.Inline(draw(narrow)))}
}
