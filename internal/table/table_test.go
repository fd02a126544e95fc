package table

import (
	"strings"
	"testing"
)

func sample() *Table {
	t := New(Column{Name: "JOB", Right: true}, Column{Name: "NAME", Right: false}, Column{Name: "CPU", Right: true})
	t.Row(1, "first", 12)
	t.Row(1042, "näutro", 1)
	t.Mark()
	return t
}

func TestPlainTable(t *testing.T) {
	var b strings.Builder
	if err := sample().Print(&b); err != nil {
		t.Fatal(err)
	}
	want := " JOB  NAME    CPU\n   1  first    12\n1042  näutro    1\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestEmptyTableWithoutHeader(t *testing.T) {
	var b strings.Builder
	empty := New(Column{Name: "JOB", Right: true})
	empty.Header = false
	if err := empty.Print(&b); err != nil || b.String() != "" {
		t.Errorf("got %q, %v", b.String(), err)
	}
}

func TestPick(t *testing.T) {
	x := sample()
	if err := x.Pick([]string{"cpu", "job"}); err != nil {
		t.Fatal(err)
	}
	x.Header = false
	var b strings.Builder
	x.Print(&b)
	if want := "12     1\n 1  1042\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	if err := sample().Pick([]string{"mem"}); err == nil || !strings.Contains(err.Error(), "job, name, cpu") {
		t.Errorf("an unknown column: %v", err)
	}
}
