package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
)

// usagePage reports the usage of past jobs, as fairlead report usage does.
var usagePage = &Page{Name: "usage", Path: "usage", Title: "Usage", Key: "u", Parts: []string{"usage"}, Still: true,
	Seen: ByUser, Load: loadUsage}

// usageForm is the report, with its form.
type usageForm struct {
	At                 time.Time
	Since, Until, Rows string // the texts of the form
	User, Pool         string
	Choices            []rowChoice
	PoolNames          []string
	Problem            string
	Report             *api.PastReport // nil until the form is sent
	Lines              []usageLine
	Total              account.Row
	Figure             plot.Figure
	Me                 string
}

// rowChoice is a choice for the rows of the report.
type rowChoice struct{ Name, Says string }

var rowChoices = []rowChoice{
	{"pool", "pools"}, {"user", "users"}, {"kind", "kinds of jobs"}, {"month,pool", "months and pools"},
	{"month,user", "months and users"}, {"pool,user", "pools and users"},
}

// usageLine is a row of the report, with its part of the usage of its period.
type usageLine struct {
	account.Row
	Part float64
}

// ByPool reports whether the rows have pools.
func (u *usageForm) ByPool() bool { return strings.Contains(u.Rows, "pool") }

// ByUser reports whether the rows have users.
func (u *usageForm) ByUser() bool { return strings.Contains(u.Rows, "user") }

// ByKind reports whether the rows have kinds.
func (u *usageForm) ByKind() bool { return strings.Contains(u.Rows, "kind") }

// ByMonth reports whether the rows have months.
func (u *usageForm) ByMonth() bool { return strings.Contains(u.Rows, "month") }

// Shares reports whether the rows have shares: these are of pools.
func (u *usageForm) Shares() bool { return u.Rows == "pool" || u.Rows == "month,pool" }

// usageTime bounds the time for a report, which reads all jobs of its period.
const usageTime = 20 * time.Second

func loadUsage(ctx context.Context, src Source, r *Request) (any, error) {
	u := &usageForm{At: time.Now(), Since: "7d", Rows: "pool", Choices: rowChoices, PoolNames: poolsFor(ctx, src),
		Me:    r.You.User,
		Until: strings.TrimSpace(r.Word("until")), User: strings.TrimSpace(r.Word("user")),
		Pool: strings.TrimSpace(r.Word("pool"))}
	if text := strings.TrimSpace(r.Word("since")); text != "" {
		u.Since = text
	}
	if text := r.Word("rows"); text != "" {
		u.Rows = text
	}
	if len(r.Query) == 0 && !r.patient(src) {
		return u, nil // the report could take long, and nobody asked for it
	}
	err := u.report(ctx, src)
	if r.Table || err == nil {
		return u, err
	}
	u.Report, u.Problem = nil, err.Error()
	return u, nil
}

// report makes the report.
func (u *usageForm) report(ctx context.Context, src Source) error {
	a, err := u.ask()
	if err != nil {
		return err
	}
	hasty, cancel := context.WithTimeout(ctx, usageTime)
	defer cancel()
	u.Report, err = src.Pools.Past(hasty, a, u.Shares())
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("the report takes longer than %s: choose a shorter period, or run: fairlead report usage "+
			"--since %s --by %s", units.FormatDuration(usageTime), words.ShellQuoted(u.Since), u.Rows)
	}
	if err != nil {
		return err
	}
	u.sum()
	return nil
}

// ask returns the request of the form.
func (u *usageForm) ask() (a account.Ask, err error) {
	if !slices.ContainsFunc(u.Choices, func(c rowChoice) bool { return c.Name == u.Rows }) {
		return a, &queue.Invalid{Field: "rows", Msg: fmt.Sprintf("%.40q is not known", u.Rows)}
	}
	a = account.Ask{Until: u.At, User: u.User, Pool: u.Pool, By: strings.Split(u.Rows, ","), Zone: time.Local}
	if a.Since, err = units.ParsePast(u.Since, u.At); err != nil {
		return a, &queue.Invalid{Field: "from", Msg: err.Error()}
	}
	if u.Until != "" {
		if a.Until, err = units.ParseEnd(u.Until, u.At); err != nil {
			return a, &queue.Invalid{Field: "until", Msg: err.Error()}
		}
	}
	if !a.Since.Before(a.Until) {
		return a, &queue.Invalid{Field: "from", Msg: "has to be before the end of the period"}
	}
	return a, nil
}

// barsShown is the maximum number of bars in the picture.
const barsShown = 12

// sum adds up the rows, and draws them.
func (u *usageForm) sum() {
	months := account.ByMonth(u.Report.Rows)
	for i := range u.Report.Rows {
		r := &u.Report.Rows[i]
		u.Total.Jobs += r.Jobs
		u.Total.Succeeded += r.Succeeded
		u.Total.Failed += r.Failed
		u.Total.Cancelled += r.Cancelled
		u.Total.UnitSeconds += r.UnitSeconds
		u.Total.CPUSeconds += r.CPUSeconds
	}
	bars := plot.Bars{Width: 620, Unit: plot.Percent, Series: []string{"usage"},
		Note: "Percentage of the usage of all rows."}
	if u.Shares() {
		bars.Series = append(bars.Series, "share")
		bars.Note = "Percentage of the usage of all rows, and the mean share of the cluster."
	}
	for i := range u.Report.Rows {
		l := usageLine{Row: u.Report.Rows[i]}
		if all := months[l.Month]; all > 0 {
			l.Part = l.UnitSeconds / all
		}
		u.Lines = append(u.Lines, l)
		if u.ByMonth() || len(bars.Groups) == barsShown {
			continue
		}
		g := plot.Group{Name: l.name(), Values: []float64{l.Part}}
		if u.Shares() && l.Share != nil {
			g.Values = append(g.Values, *l.Share)
		}
		bars.Groups = append(bars.Groups, g)
	}
	if len(bars.Groups) > 1 {
		u.Figure = bars
	}
}

// name names a row in the picture.
func (l *usageLine) name() string {
	var names []string
	if l.Pool != "" || l.User == "" && l.Kind == "" {
		names = append(names, words.Pool(l.Pool))
	}
	for _, name := range []string{l.User, l.Kind} {
		if name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
