package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	daemons "github.com/fairlead/fairlead/internal/daemon"
)

// deployed returns the text of a file in deploy/.
func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rootDir, "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// dashboardQueries returns the queries of the dashboard, with values for its variables.
func dashboardQueries(t *testing.T) []string {
	t.Helper()
	var board struct {
		Panels []struct {
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(deployed(t, "grafana/fairlead.json")), &board); err != nil {
		t.Fatal(err)
	}
	values := strings.NewReplacer("$__rate_interval", "5m", "$instance", "lab", "$pool", ".*", "$unit", "cpu")
	taken := map[[2]int]string{}
	var queries []string
	for _, p := range board.Panels {
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("panel %q lies over %q, or beyond the edge", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		for _, q := range p.Targets {
			queries = append(queries, values.Replace(q.Expr))
			if left := regexp.MustCompile(`\$\w+`).FindString(queries[len(queries)-1]); left != "" {
				t.Errorf("panel %q uses %s, which the dashboard does not define", p.Title, left)
			}
		}
	}
	if len(queries) < 15 {
		t.Errorf("only %d queries found", len(queries))
	}
	return queries
}

// TestDeployedMetrics checks that the server has every metric that the dashboard and the alerts name.
func TestDeployedMetrics(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for row := range strings.Lines(metricsText(t)) {
		m := regexp.MustCompile("^\\| `(fairlead_\\w+)` \\| (\\w+) \\|").FindStringSubmatch(row)
		if m == nil {
			continue
		}
		known[m[1]] = true
		if m[2] == "histogram" || m[2] == "summary" {
			known[m[1]+"_bucket"], known[m[1]+"_sum"], known[m[1]+"_count"] = true, true, true
		}
	}
	text := deployed(t, "prometheus/fairlead.rules.yml") + deployed(t, "prometheus/fairlead.rules.test.yml") + strings.Join(dashboardQueries(t), "\n") + deployed(t, "grafana/fairlead.json")
	names := regexp.MustCompile(`\bfairlead_\w+`).FindAllString(text, -1)
	if len(names) < 40 || len(known) < 25 {
		t.Errorf("%d names, %d known: something is not read", len(names), len(known))
	}
	for _, name := range names {
		if !known[name] {
			t.Errorf("the server has no metric %s", name)
		}
	}
}

// TestDeployedRules has promtool check the configuration, the alerts with their tests, and the queries of the
// dashboard.
func TestDeployedRules(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		daemons.Skip(t, "there is no promtool here: apt-get install prometheus")
	}
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for i, q := range dashboardQueries(t) {
		fmt.Fprintf(&rules, "  - record: panel_%d\n    expr: %q\n", i, q)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "config", "prometheus.yml"}, {"check", "rules", "fairlead.rules.yml"}, {"test", "rules", "fairlead.rules.test.yml"}, {"check", "rules", file}} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = filepath.Join(rootDir, "deploy", "prometheus")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// TestDeployedUnitsFit checks that the agent and the commands trust the user of the server's unit, and that
// all use the same socket.
func TestDeployedUnitsFit(t *testing.T) {
	t.Parallel()
	find := func(what, text, expression string) string {
		m := regexp.MustCompile(expression).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("%s: nothing matches %s", what, expression)
		}
		return m[1]
	}
	user := find("the unit of the server", deployed(t, "systemd/fairlead-server.service"), `(?m)^User=(\S+)$`)
	if agents := find("the unit of the agent", deployed(t, "systemd/fairlead-agent.service"), `--server-user (\S+)`); agents != user {
		t.Errorf("the agent trusts %s, the server runs as %s", agents, user)
	}
	if commands := find("the page", readPage(t, "docs/how-to/lab.md"), `(?m)^server_user: (\S+)$`); commands != user {
		t.Errorf("the commands trust %s, the server runs as %s", commands, user)
	}
	config := find("the page", readPage(t, "docs/how-to/lab.md"), `(?m)^  socket: (\S+)`)
	if agents := find("the unit of the agent", deployed(t, "systemd/fairlead-agent.service"), `--server (\S+)`); agents != config || agents != systemSocket {
		t.Errorf("the agent uses %s, the server %s, commands %s", agents, config, systemSocket)
	}
}
