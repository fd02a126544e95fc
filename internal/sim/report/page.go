package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"

	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/sim"
)

// Report is one or several schedules of one workload, to be compared.
type Report struct {
	Title   string
	Command string   // that repeats it
	Notes   []string // what was left out of the workload, or changed
	Runs    []Run
	// Only is what the Gantt charts show; nil: what Window chooses.
	Only *Stretch
}

// Stretch is a part of a schedule, in seconds of its workload.
type Stretch struct{ From, To int64 }

// within is the part of the stretch in which something is: false if that is nothing.
func (s Stretch) within(from, to int64) (Stretch, bool) {
	s.From, s.To = max(s.From, from), min(s.To, to)
	return s, s.From < s.To
}

// Run is what came of the workload under a policy.
type Run struct {
	Name string
	*sim.Result
}

// The page needs nothing from elsewhere.
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

// style is that of all pages that stand alone.
var style = plot.CSS + plot.Print + pageCSS

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// picture is one that comes wide and narrow; pages show the one that fits.
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
