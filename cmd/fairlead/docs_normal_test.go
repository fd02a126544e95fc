package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// canonical replaces the names of the machine where a session runs by the names in the documentation: ann on the
// machine lab1.

func (s *session) canonical(out string) []string {
	user := regexp.QuoteMeta(s.user)
	for _, r := range []struct{ from, to string }{
		{regexp.QuoteMeta(s.socket), "/run/user/1000/fairlead.sock"},
		{regexp.QuoteMeta(s.dir), "/home/ann"},
		{`127\.0\.0\.1:\d+`, "127.0.0.1:7447"},
		{`login\?code=\S+`, "login?code=LrVdJ2yWq0Jc..."},
		{`FAIRLEAD_SERVER=\S+ `, ""},
		{`\b` + regexp.QuoteMeta(s.host) + `\b`, "lab1"},
		// The user's name may be a word of the text, such as root.
		{`queued in ` + user + ` \(`, "queued in ann ("},
		{`\(user ` + user + `\)`, "(user ann)"},
		{`\(` + user + `([,)])`, "(ann$1"},
		{`\b(people|physics|science/physics)/` + user + `\b`, "$1/ann"},
		{`\bby ` + user + `\b`, "by ann"},
		{`\b(of|for) ` + user + ` (on|in|continues?)\b`, "$1 ann $2"},
		{`\bis ` + user + `\b`, "is ann"},
		{`\binto ` + user + `\b`, "into ann"},
		{`\byou are ` + user + `\b`, "you are ann"},
		{`: ` + user + ` has (\d)`, ": ann has $1"},
		{`(?m)^(\S+ +\d+ +\d+ +\d+ +\d+ +)` + user + ` (\d)`, "${1}ann $2"}, // holder of a license
		{`"(user|requestor|pool)":("|\s*") ?` + user + `"`, `"$1":${2}ann"`},
		{`(?m)^(\s*\*?\d\S*\s+)` + user + `(\s+)` + user + `(\s)`, "${1}ann${2}ann$3"},
		{`(?m)^(\s*\*?\d\S*\s+)` + user + `(\s)`, "${1}ann$2"},
		{`(?m)^` + user + `(\s+(?:fair|fifo|lottery)\s)`, "ann$1"},
	} {
		out = regexp.MustCompile(r.from).ReplaceAllString(out, r.to)
	}
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines
}

// varies replaces the parts of output that differ each time: instants and spans, sizes, versions, and numbers
// that follow from them.
var varies = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?`), "WHEN"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "WHEN"},
	{regexp.MustCompile(`\buntil \d\d:\d\d\b`), "until WHEN"},
	{regexp.MustCompile(`(at (\d\d:\d\d|WHEN)|between (\d\d:\d\d|WHEN) and (\d\d:\d\d|WHEN)) in most of \d+ replays`), "WHEN in most of N replays"},
	{regexp.MustCompile(`\b(by|not before) \d\d:\d\d\b`), "$1 WHEN"},
	{regexp.MustCompile(`\b\d\d:\d\d\b`), "WHEN"},
	{regexp.MustCompile(`\b\d+(\.\d+)?(ns|µs|ms|s|m|h|d)(\d+(\.\d+)?(ms|s|m|h))?\b`), "SPAN"},
	{regexp.MustCompile(`[\d,]+ jobs a second$`), "N jobs a second"},
	{regexp.MustCompile(`(version|configuration|version:) [0-9a-f]{8}\b`), "$1 HASH"},
	{regexp.MustCompile(`"(hash|config)":\s*"[0-9a-f]{8}"`), `"$1": HASH`},
	{regexp.MustCompile(`fairlead-dev-\d+`), "fairlead-dev-N"},
	{regexp.MustCompile(`\b\d+(\.\d+)?[KMGTP]\b`), "SIZE"},
	// an agent measures its tasks only after a while
	{regexp.MustCompile(`(runs SPAN(?: on \S+?)?); \S.*memory.*$`), "$1"},
	{regexp.MustCompile(`; it uses .*, measured .*?WHEN`), ""},
	{regexp.MustCompile(`\b\d+(\.\d+)? cpu-[sh]\b`), "AMOUNT"},
	{regexp.MustCompile(`\S+ \+ \(\S+ \+ \S+\) / (\S+) = \S+`), "N + (N + N) / $1 = N"},
	{regexp.MustCompile(`\(\d+\.\d% of (\d+\.\d%)\)`), "(N% of $1)"},
	{regexp.MustCompile(`key: \S+ < [\d.]+\.`), "key: N < N."},
	{regexp.MustCompile(`used \d+\.\d%\s+(over|under) \(ratio [\d.]+\)`), "used N% $1"},
	{regexp.MustCompile(`\d+\.\d%\s+(over|under) \(ratio [\d.]+\)`), "RATIO"},
	{regexp.MustCompile(`\S+ +key \S+ +\d+\.\d%$`), "LAG key N N%"},
	{regexp.MustCompile(`past use \d+\.\d%`), "past use N%"},
	{regexp.MustCompile(`\d+\.\d%$`), "N%"},
	{regexp.MustCompile(`used \d+\.\d%`), "used N%"},
	{regexp.MustCompile(`\bstep \d+\b|\b\d+ steps\b`), "STEP"},
	{regexp.MustCompile(`\b\d+ series in\b`), "N series in"},
	{regexp.MustCompile(`\(process \d+\)`), "(process N)"},
	{regexp.MustCompile(`\d+ of \d+ cpu\)`), "N of N cpu)"},
	{regexp.MustCompile(`up to \d+`), "up to N"},
	{regexp.MustCompile(`SPAN +(\d+|SIG[A-Z]+) +SPAN +(SIZE|0) `), "SPAN $1 SPAN SIZE "}, // ran, exit, cpu, memory
	{regexp.MustCompile(`"(cpu_seconds|max_rss_bytes)":\s*[\d.e-]+`), `"$1": N`},
	{regexp.MustCompile(`(\S) +`), "$1 "}, // column widths
	{regexp.MustCompile(`^ +([^ ^])`), "$1"},
	{regexp.MustCompile(` +$`), ""},
}

// soon matches the second line of submit, about the progress of the job or the reason of its wait. place matches the
// end of the first line, and leaving matches a state of an agent. All depend on how fast the agent is.
var (
	soon    = regexp.MustCompile(`^[a-z].*\(fairlead why \d+\)$`)
	place   = regexp.MustCompile(`^(job \d+ queued in .*): (it is next|number \d+ of \d+)(; starts by WHEN \(in SPAN\) (?:if every task uses its whole time limit and no new job goes ahead|because room is kept for it from then|if the order of the waiting jobs stays as it is))?$`)
	leaving = regexp.MustCompile(`^(ending; again|draining for)`)
)

// normal returns output without the parts that differ each time.
func normal(lines []string) []string {
	var out []string
	for _, line := range lines {
		for _, v := range varies {
			line = v.what.ReplaceAllString(line, v.by)
		}
		line = place.ReplaceAllString(line, "$1")
		if !soon.MatchString(line) && !leaving.MatchString(line) {
			out = append(out, line)
		}
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// matches compares the output on a page with real output. A line of three dots matches any number of lines.
func matches(want, got []string) bool { return matchLines(normal(want), normal(got)) }

func matchLines(want, got []string) bool {
	for i, line := range want {
		if line == "..." {
			for k := i; k <= len(got); k++ {
				if matchLines(want[i+1:], got[k:]) {
					return true
				}
			}
			return false
		}
		if i >= len(got) || got[i] != line {
			return false
		}
	}
	return len(want) == len(got)
}

func TestSessionsAreCompared(t *testing.T) {
	same := [][2]string{
		{"4 fit (ann, physics) waiting 2.0s   verdict: x", "4 fit (ann, physics) waiting 1m2s  verdict: x"},
		{"physics  0 + (2.042 + 0.018) / 3 = 2.06   share 50.0%  used 99.6%  over (ratio 0.50)", "physics  0 + (6 + 120) / 3 = 42   share 50.0%  used 51.6%  over (ratio 0.99)"},
		{"physics fair 1 50.0% 100.0% -0.01 key 43.83 99.8%", "physics fair 1 50.0% 100.0%  0 key 24.24  99.9%"},
		{"share 50.0%  past use 65.0%  <- you", "share 50.0%  past use 64.1%  <- you"},
		{"a\n...\nz", "a\nb\nc\nz"},
		{"0  cancelled  1  lab1  20ms  SIGTERM  0ms  0  why", "0  cancelled  1  lab1  1.02s  SIGTERM  3ms  1.2M  why"},
		{"job 1 queued in ann (user ann): it is next", "job 1 queued in ann (user ann)\n  it has run since 11:28:14 on lab1    (fairlead why 1)"},
	}
	for _, c := range same {
		if !matches(strings.Split(c[0], "\n"), strings.Split(c[1], "\n")) {
			t.Errorf("%q and %q should be taken for the same: %q, %q", c[0], c[1], normal(strings.Split(c[0], "\n")), normal(strings.Split(c[1], "\n")))
		}
	}
	different := [][2]string{
		{"physics  0 + (2 + 1) / 3 = 1   share 75.0%  used 60.0%  under (ratio 1.2)", "physics  0 + (2 + 1) / 1 = 3   share 75.0%  used 60.0%  under (ratio 1.2)"},
		{"               ^", "                ^"},
		{"a\n...\nz", "a\nb"},
		{"1  failed  1  n2  6ms  7  1ms  0  -", "1  failed  1  n2  6ms  8  1ms  0  -"},
	}
	for _, c := range different {
		if matches(strings.Split(c[0], "\n"), strings.Split(c[1], "\n")) {
			t.Errorf("%q and %q should be told apart", c[0], c[1])
		}
	}
	s := &session{user: "root", host: "box", dir: "/tmp/x/home", socket: "/tmp/x/s"}
	got := s.canonical("job 1 queued in root (user root)\n  SHARE cluster: fair\n   1  root  root  echo on box\nin the root: by root\n")
	if want := []string{"job 1 queued in ann (user ann)", "  SHARE cluster: fair", "   1  ann  ann  echo on lab1", "in the root: by ann"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
