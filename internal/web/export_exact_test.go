package web_test

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// exactNumber matches the allowed forms of numbers in cells.
var exactNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$`)

// onlyNumbers checks that some columns contain only exact numbers or empty cells.
func onlyNumbers(t *testing.T, rows [][]string, names ...string) {
	t.Helper()
	for _, name := range names {
		for _, cell := range column(t, rows, name) {
			if cell != "" && !exactNumber.MatchString(cell) {
				t.Errorf("%s is %q", name, cell)
			}
		}
	}
}

// onlyInstants checks that some columns contain only instants or empty cells.
func onlyInstants(t *testing.T, rows [][]string, names ...string) {
	t.Helper()
	for _, name := range names {
		for _, cell := range column(t, rows, name) {
			if _, err := time.Parse(time.RFC3339Nano, cell); cell != "" && err != nil {
				t.Errorf("%s is %q", name, cell)
			}
		}
	}
}

const exportCluster = cluster + `rates: {mails: 10/m}
`

// TestExportsAreExact checks that a file has numbers in place of words (fractions, seconds, instants), whole paths of
// pools, separate columns for amounts in use and totals, and neither pictures nor buttons.
func TestExportsAreExact(t *testing.T) {
	l := newLab(t, exportCluster)
	l.node("n1", map[string]int64{"cpu": 8, "mem": 8 << 30})
	l.submit("ann", api.Spec{Name: "-0.5", Pool: "physics/curie", LimitSeconds: 5401, Argv: []string{"sleep", "1000"},
		Request: map[string]int64{"cpu": 7}, Licenses: map[string]int64{"matlab": 1}})
	l.wait("it runs", func() bool { n, _ := l.loop.Running(); return n == 1 })
	l.submit("ann", api.Spec{Name: "=1+1", Pool: "physics/curie", LimitSeconds: 5401, Array: "1-5",
		Argv: []string{"sleep", "1"}, Request: map[string]int64{"cpu": 8}})
	l.submit("bob", api.Spec{Name: "+x", Pool: "biology/epi", Argv: []string{"sleep", "1"},
		Request: map[string]int64{"cpu": 8}})
	l.wait("they wait", func() bool { _, n := l.loop.Running(); return n == 6 })

	for path, part := range map[string]string{"/": "pools", "/pool?pool=physics": "members"} {
		rows := l.sheet(path, part)
		if got := column(t, rows, "Pool"); !slices.Contains(got, "physics/curie") {
			t.Errorf("%s: the pools are %q", path, got)
		}
		onlyNumbers(t, rows, "Share", "Past use", "Runs", "Entitled", "Waiting", "Oldest wait")
		if head := strings.Join(rows[0], "|"); strings.Contains(head, "Ran, entitled") ||
			!strings.Contains(head, "Compared by") || strings.Contains(head, "share, fair") ||
			!strings.Contains(head, "unit-seconds") {
			t.Errorf("%s: the columns are %s", path, head)
		}
	}
	rows := l.sheet("/pool?pool=physics&with=biology", "versus")
	for _, row := range rows[1:] {
		for _, cell := range row[1:] {
			if cell != "" && !exactNumber.MatchString(cell) && !strings.Contains("min max paused", row[0]) {
				t.Errorf("versus: %q is %q", row[0], cell)
			}
		}
	}
	rows = l.sheet("/queue?list=all", "list")
	onlyNumbers(t, rows, "Job", "Tasks", "cpu", "Limit", "Running", "Rank")
	onlyInstants(t, rows, "Submitted", "Ended or starts by")
	if got := column(t, rows, "Name"); !slices.Equal(got, []string{"'+x", "'=1+1", "-0.5"}) {
		t.Errorf("the names are %q", got)
	}
	if limits, tasks, states := column(t, rows, "Limit"), column(t, rows, "Tasks"), column(t, rows,
		"State"); !slices.Equal(limits, []string{"", "5401", "5401"}) || !slices.Equal(tasks, []string{"1", "5", "1"}) ||
		states[2] != "running" {
		t.Errorf("limits %q, tasks %q, states %q", limits, tasks, states)
	}
	rows = l.sheet("/queue?fold=user", "list")
	onlyNumbers(t, rows, "Jobs", "Waiting", "Running", "cpu", "First rank")
	onlyInstants(t, rows, "Oldest submitted")
	rows = l.sheet("/", "longest")
	onlyInstants(t, rows, "Submitted")
	exportMachines(t, l)
}

// exportMachines checks the tables of the machines.
func exportMachines(t *testing.T, l *lab) {
	t.Helper()
	rows := l.sheet("/machines", "nodes")
	if used, all, mem := column(t, rows, "cpu in use"), column(t, rows, "cpu"), column(t, rows,
		"Memory"); used[0] != "7" || all[0] != "8" || mem[0] != strconv.Itoa(8<<30) {
		t.Errorf("of the processors %q of %q are in use, of memory %q", used, all, mem)
	}
	if slices.Contains(rows[0], "action") || slices.Contains(rows[1], "Drain") {
		t.Errorf("there is what can be done: %q", rows)
	}
	rows = l.sheet("/machines", "groups")
	onlyNumbers(t, rows, "Machines", "Up", "cpu in use", "cpu up", "Tasks")
	rows = l.sheet("/machines", "limits")
	onlyNumbers(t, rows, "In use", "Left", "Waiting", "Recent peak")
	onlyInstants(t, rows, "From", "Free by", "Next start")
	if kinds, names, used := column(t, rows, "Kind"), column(t, rows, "Name"), column(t, rows,
		"In use"); !slices.Equal(kinds, []string{"license", "rate"}) || !slices.Equal(names, []string{"matlab", "mails"}) ||
		!slices.Equal(used, []string{"1", ""}) {
		t.Errorf("the limits are %q", rows)
	}
	if _, err := l.client.Nodes.Reserve(t.Context(), "course",
		api.ReserveRequest{Count: 1, From: time.Now().Add(24 * time.Hour), Seconds: 3600, Maintenance: true,
			Reason: "-5 degrees"}); err != nil {
		t.Fatal(err)
	}
	l.wait("the reservation is shown", func() bool { _, _, text := l.get("/machines"); return strings.Contains(text, "r-course") })
	rows = l.sheet("/machines", "reserved")
	onlyInstants(t, rows, "From", "Until")
	if notes := column(t, rows, "Note"); notes[0] != "'-5 degrees" || slices.Contains(rows[0], "action") {
		t.Errorf("the reservations are %q", rows)
	}
}

// TestEveryTableHasAHead checks that each table of a page begins with the names of its columns, all
// different.
func TestEveryTableHasAHead(t *testing.T) {
	l := newLab(t, exportCluster)
	example(l)
	head := regexp.MustCompile(`(?s)<table[^>]*>\s*(<thead>)?`)
	for _, path := range []string{"/", "/queue", "/queue?fold=pool", "/pool?pool=physics&with=biology", "/pool?user=ann",
		"/jobs/1", "/machines", "/policy"} {
		status, _, text := l.get(path)
		if status != http.StatusOK {
			t.Fatalf("%s: status %d", path, status)
		}
		for _, m := range head.FindAllStringSubmatch(text, -1) {
			if m[1] == "" {
				t.Errorf("%s: a table without a head: %s", path, m[0])
			}
		}
		for _, m := range exportOf.FindAllStringSubmatch(text, -1) {
			names := l.sheet(path, m[2])[0]
			for i, name := range names {
				if name == "" || slices.Contains(names[:i], name) {
					t.Errorf("%s, %s: the columns are %q", path, m[2], names)
				}
			}
		}
	}
}
