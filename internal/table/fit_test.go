package table

import (
	"slices"
	"strings"
	"testing"
)

func wideTable() *Table {
	t := New(Column{Name: "JOB", Right: true}, Column{Name: "POOL"}, Column{Name: "KIND"},
		Column{Name: "CPU", Right: true}, Column{Name: "WAITING FOR"})
	t.Row(1042, "physics/markov/assembly", "-", 16, "other pools go before it in physics")
	t.Row(7, "biology", "-", 4, "room; it is next")
	return t
}

// TestFit checks that numbers and the first column stay whole, that empty columns are dropped first, and that
// the longest texts are cut then.
func TestFit(t *testing.T) {
	for _, width := range []int{200, 74, 60, 40, 30} {
		x := wideTable()
		all := x.natural()
		x.fit(width)
		if x.natural() > width {
			t.Errorf("width %d: needs %d", width, x.natural())
		}
		if all > width && len(x.columns) != 4 {
			t.Errorf("width %d: %d columns; the empty one should be gone", width, len(x.columns))
		}
		if all <= width && len(x.columns) != 5 {
			t.Errorf("width %d: a column is gone without need", width)
		}
		for _, row := range x.rows {
			if row[0] != "1042" && row[0] != "7" || row[len(row)-2] != "16" && row[len(row)-2] != "4" {
				t.Errorf("width %d: a number was cut: %q", width, row)
			}
		}
	}
	x := wideTable()
	if err := x.Pick([]string{"job", "kind", "waiting for"}); err != nil {
		t.Fatal(err)
	}
	if x.fit(30); len(x.columns) != 3 || x.columns[1].Name != "KIND" {
		t.Errorf("a column that was asked for is gone: %v", x.columns)
	}
}

// TestFitLeavesColumnsOut: if a table with all texts cut is too wide, columns are left out, the most spare first, and
// are named; no number is cut.
func TestFitLeavesColumnsOut(t *testing.T) {
	for _, c := range []struct {
		width int
		out   []string
	}{
		{39, nil}, {38, []string{"AGE"}}, {31, []string{"AGE", "LIMIT"}}, {25, []string{"AGE", "LIMIT"}},
		{24, []string{"AGE", "LIMIT", "CPU"}}, {12, []string{"AGE", "LIMIT", "CPU", "WAITING FOR"}},
	} {
		x := New(Column{Name: "JOB", Right: true}, Column{Name: "LIMIT", Right: true, Spare: 1},
			Column{Name: "AGE", Right: true, Spare: 2}, Column{Name: "CPU", Right: true}, Column{Name: "WAITING FOR"})
		x.Row(123456, "2d12h", "1d23h", 65536, "other pools go before it")
		x.fit(c.width)
		if !slices.Equal(x.out, c.out) || x.natural() > c.width {
			t.Errorf("width %d: %v are left out, want %v; %d wide", c.width, x.out, c.out, x.natural())
		}
		for i, cell := range x.rows[0] {
			if x.columns[i].Right && strings.Contains(cell, "…") {
				t.Errorf("width %d: %s is cut: %s", c.width, x.columns[i].Name, cell)
			}
		}
	}
}

// TestFitKeepsBothEndsOfNames: a long name in the first column is cut in its middle, and never to less than a third of
// the terminal.
func TestFitKeepsBothEndsOfNames(t *testing.T) {
	x := New(Column{Name: "POOL"}, Column{Name: "SHARE", Right: true})
	x.Row("  high-energy-experimental-collaboration", "66.7%")
	if x.fit(30); x.rows[0][0] != "  high-ener…llaboration" || x.rows[0][1] != "66.7%" {
		t.Errorf("%q", x.rows[0])
	}
}

// TestFitWraps: the texts of a column that wraps go on below, none is lost, and marks stay at their rows.
func TestFitWraps(t *testing.T) {
	x := New(Column{Name: "CHECK"}, Column{Name: "DETAIL", Wraps: true})
	x.Row("disk", "45.9G free")
	x.Row("lost nodes", "compute-rack07; this delays 4 waiting jobs")
	x.Mark()
	x.fit(40)
	want := [][]string{{"disk", "45.9G free"}, {"lost nodes", "compute-rack07; this delays"}, {"", "4 waiting jobs"}}
	if !slices.EqualFunc(x.rows, want, slices.Equal) || x.bold[0] || !x.bold[1] || !x.bold[2] {
		t.Errorf("%q, marked %v", x.rows, x.bold)
	}
}

// TestFitWrapsTwoColumns: the lines of two texts of one row stand side by side.
func TestFitWrapsTwoColumns(t *testing.T) {
	x := New(Column{Name: "WHAT"}, Column{Name: "NEW", Wraps: true}, Column{Name: "NOTE", Wraps: true})
	x.Row("boost", "x2 until 2026-11-27 23:20:56 UTC", "before the deadline of the group")
	x.fit(60)
	want := [][]string{{"boost", "x2 until 2026-11-27", "before the deadline of the"}, {"", "23:20:56 UTC", "group"}}
	if !slices.EqualFunc(x.rows, want, slices.Equal) {
		t.Errorf("%q", x.rows)
	}
}

// TestFitLeastWidth: a column is not cut below its least width as long as another column can be left out.
func TestFitLeastWidth(t *testing.T) {
	x := New(Column{Name: "JOB", Right: true}, Column{Name: "POOL", Least: 14}, Column{Name: "NAME", Spare: 1},
		Column{Name: "REASON"})
	x.Row("1", "physics/daemon", "simulation", "other jobs of its pool")
	x.fit(32)
	if got := x.rows[0]; len(got) != 3 || got[1] != "physics/daemon" {
		t.Errorf("%q", got)
	}
}
