package table

import (
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
