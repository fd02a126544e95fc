package sched_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var plantMistakes = flag.Bool("mistakes", false, "let TestStarvationFindsMistakes build the package with each mistake")

// mistakes are planted in a copy of the package: in a file, a text is replaced by another one, in which the condition
// MISTAKE is true while the number of the mistake is set. TestStarvation has to find each mistake.
var mistakes = []struct{ name, file, text, with string }{
	{"no room is kept", "reserved.go", "r := f.queues.unplacedAt(at, job)\n\tif !f.keepRoom(&r) {",
		"r := f.queues.unplacedAt(at, job)\n\tif MISTAKE || !f.keepRoom(&r) {"},
	{"patience never ends", "patience.go", "return now > t.until ||",
		"return !(MISTAKE) && now > t.until || !(MISTAKE) &&"},
	{"a turn begins anew in each step", "patience.go", "t, now := &p.of[i], f.site.instantOf()\n",
		"t, now := &p.of[i], f.site.instantOf()\n\tif MISTAKE {\n\t\t*t = f.turnOf(r)\n\t}\n"},
	{"the hold is dropped when a task ends", "patience.go", "func (p *patience) ended(r *run) {",
		"func (p *patience) ended(r *run) {\n\tif MISTAKE {\n\t\tp.held, p.since = reserved{}, 0\n\t}"},
	{"others start on held nodes by predictions", "predict.go", "if f.backfill.patience.held.job != 0 {",
		"if f.backfill.patience.held.job != 0 && !(MISTAKE) {"},
	{"tasks beside a hold are planned to end", "predict.go", "p.since != 0 && r.beside == p.since",
		"!(MISTAKE) && p.since != 0 && r.beside == p.since"},
	{"the held job is not started", "placement.go", "h := m.reserve.backfill.patience.held\n\tif h.job == 0 {",
		"h := m.reserve.backfill.patience.held\n\tif h.job == 0 || MISTAKE {"},
	{"with limits nobody is held for", "patience.go", "i, known := p.find(r.job)\n",
		"i, known := p.find(r.job)\n\tif MISTAKE && !known && f.running.endless.all == 0 {\n\t\treturn false\n\t}\n"},
	{"jobs of the first job's pool pass it", "easy.go", "if len(b.firsts) > 0 {\n\t\tnode, fits",
		"if len(b.firsts) > 0 && !(MISTAKE && b.firsts[0].at.queue == at.queue) {\n\t\tnode, fits"},
	{"licenses are not held", "reserved.go", "f.planLicenses(r.key, sign, from, to)",
		"if !(MISTAKE) {\n\t\t\tf.planLicenses(r.key, sign, from, to)\n\t\t}"},
	{"room for a gang is that of one task", "reserved.go",
		"if f.site.gangOf(key) > 0 {\n\t\treturn f.backfill.plan.EarliestGang",
		"if f.site.gangOf(key) > 0 && !(MISTAKE) {\n\t\treturn f.backfill.plan.EarliestGang"},
	{"sub-queues without room do not try again", "backfill.go", "if len(w.active) == 0 {\n\t\treturn",
		"if len(w.active) == 0 || MISTAKE {\n\t\treturn"},
	{"under conservative nobody is first", "inorder.go", "if m.reserve.keptAhead(r.key) != nil {",
		"if m.reserve.keptAhead(r.key) != nil || MISTAKE {"},
	{"under fifo wrong predictions move kept room", "backfill.go", "plans != plansAll || e.running.endless.all == 0",
		"plans != plansAll || e.running.endless.all == 0 || MISTAKE"},
	{"licenses are held from when nodes are free", "patience.go", "h.to - h.from; h.lacksLicense {",
		"h.to - h.from; h.lacksLicense && !(MISTAKE) {"},
	{"conservative forgets the hold", "conservative.go", "if !b.stable {\n\t\te.reserve.holdAgain",
		"if !b.stable && !(MISTAKE) {\n\t\te.reserve.holdAgain"},
}

// TestStarvationFindsMistakes: the property fails for each planted mistake. Even if no mistakes are planted, each text
// to be replaced has to occur exactly once.
func TestStarvationFindsMistakes(t *testing.T) {
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	source := map[string]string{}
	for i, m := range mistakes {
		if source[m.file] == "" {
			text, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			source[m.file] = string(text)
		}
		if n := strings.Count(source[m.file], m.text); n != 1 {
			t.Errorf("%s: the text is %d times in %s, want once:\n%s", m.name, n, m.file, m.text)
		}
		with := strings.ReplaceAll(m.with, "MISTAKE", `mistake == "`+number(i)+`"`)
		source[m.file] = strings.Replace(source[m.file], m.text, with, 1)
	}
	if !*plantMistakes || t.Failed() {
		return
	}
	binary := buildMistakes(t, dir, source)
	for i, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			run := exec.Command(binary, "-test.run=TestStarvation$", "-cases=40000", "-first")
			run.Dir, run.Env = dir, append(os.Environ(), "SCHED_MISTAKE="+number(i))
			out, err := run.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "has waited for") {
				t.Errorf("not found: %v\n%s", err, out)
			}
			line, _, _ := strings.Cut(string(out), "(go test")
			t.Log(strings.TrimSpace(line))
		})
	}
}

// number names a mistake.
func number(i int) string { return string(rune('a' + i)) }

// buildMistakes builds the tests of the package with changed files, which read the mistake from the environment.
func buildMistakes(t *testing.T, dir string, source map[string]string) (binary string) {
	temp := t.TempDir()
	source["mistake.go"] = "package sched\n\nimport \"os\"\n\nvar mistake = os.Getenv(\"SCHED_MISTAKE\")\n"
	replace := map[string]string{}
	for name, text := range source {
		replace[filepath.Join(dir, name)] = filepath.Join(temp, name)
		if err := os.WriteFile(filepath.Join(temp, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(temp, "sched.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", list, "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}
