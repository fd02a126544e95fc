package tidy

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/fairlead/fairlead"

// floors lists the packages from the bottom up. A package may import only packages before it in this list.
// Tests of a package may import any package.
var floors = []struct {
	group    string
	packages []string
}{
	{"floor 1, thinking", []string{
		"internal/instant", "share", "why/room", "why", "why/replay", "usage", "cluster", "sched", "policy", "frontback",
	}},
	{"the simulator, on floor 1 alone", []string{"internal/sim/swf", "internal/sim", "internal/sim/qs"}},
	{"floor 2, the life of a job", []string{
		"internal/wait", "internal/environ", "internal/batch", "internal/units", "internal/bounded",
		"internal/plain", "internal/notices", "internal/filelock", "internal/tempdir", "internal/socket", "internal/quota",
		"internal/poolnames", "internal/ca", "internal/schedule", "queue",
		"internal/tries", "internal/ends", "internal/permit",
		"internal/token", "internal/access", "allocation", "internal/poolpath", "internal/engine",
		"internal/explain", "internal/views", "internal/forecast", "internal/history", "",
	}},
	{"stores and readers", []string{
		"store/internal/life", "store/internal/past", "store/storetest", "store/memory", "store/sqlite", "store/postgres",
		"config", "internal/foreign", "internal/script", "internal/plot", "internal/curves", "internal/table", "internal/process", "internal/gpu",
		"internal/sim/workload", "internal/sim/report", "internal/sim/history", "internal/account",
	}},
	{"the outside world", []string{"internal/api", "internal/joining", "internal/words", "internal/tracing", "internal/top", "internal/settings", "remote", "internal/submit", "internal/web", "internal/server", "internal/agent", "internal/onestep", "internal/demo", "internal/bench"}},
	{"bridges, to one queueing system each", []string{
		"internal/bridge", "internal/bridge/bridgetest", "internal/bridge/queue",
		"internal/bridge/slurm",
		"internal/bridge/mq", "internal/bridge/beanstalkd", "internal/bridge/rabbitmq",
	}},
	{"wiring", []string{"cmd/fairlead"}},
	{"examples, which import what a user may", []string{"examples/imageservice"}},
	{"the rules, and what tests need", []string{"internal/await", "internal/golden", "internal/daemon", "internal/pgtest", "internal/terminal", "internal/brokertest", "internal/browsertest", "internal/bridge/killtest", "internal/bridge/sharetest", "internal/bridge/worktest", "internal/slurmtest", "store/internal/linear", "internal/clienttest", "internal/engine/enginetest", "internal/tidy"}},
}

// impure lists packages of the standard library that floor 1 must not import: it has no input or output, no
// clock, no goroutine, no lock. (It may import time for its types.)
var impure = []string{
	"os", "io", "net", "log", "sync", "context", "syscall", "runtime", "testing", "unsafe", "embed", "database",
}

// ticking lists texts: a file that contains one uses a clock, a goroutine or a channel.
var ticking = []string{
	"time.Now(", "time.Since(", "time.Until(", "time.Sleep(", "time.After", "time.NewTimer", "\tgo func", "chan ",
}

// TestImportsGoDownOnly reads the import order as a list.
func TestImportsGoDownOnly(t *testing.T) {
	rank := map[string]int{}
	n := 0
	for _, f := range floors {
		for _, p := range f.packages {
			rank[p] = n
			n++
		}
	}
	for _, file := range goFiles(t, false) {
		pkg := packageOf(file)
		from, known := rank[pkg]
		if !known {
			t.Errorf("%s: package %q has no place in the list of floors", file, pkg)
			continue
		}
		for _, path := range imports(t, file) {
			rest, ours := strings.CutPrefix(path, module)
			if !ours {
				continue
			}
			to := strings.TrimPrefix(rest, "/")
			if at, known := rank[to]; !known || at >= from {
				t.Errorf("%s: %q must not import %q: imports go down the list of floors only", file, pkg, to)
			}
		}
	}
}

// TestExamplesImportWhatAUserMay checks that examples do not import internal/: they are documentation, and
// users cannot import it.
func TestExamplesImportWhatAUserMay(t *testing.T) {
	for _, file := range goFiles(t, true) {
		if !strings.HasPrefix(filepath.Base(file), "example_") {
			continue
		}
		for _, path := range imports(t, file) {
			if strings.HasPrefix(path, module+"/internal/") {
				t.Errorf("%s: an example must not import %s", file, path)
			}
		}
	}
}

// TestFloorOneIsPure restricts floor 1 to the pure part of the standard library.
func TestFloorOneIsPure(t *testing.T) {
	for _, file := range goFiles(t, false) {
		if !slices.Contains(floors[0].packages, packageOf(file)) {
			continue
		}
		for _, path := range imports(t, file) {
			if strings.HasPrefix(path, module+"/") {
				continue
			}
			first, _, _ := strings.Cut(path, "/")
			if strings.Contains(first, ".") {
				t.Errorf("%s: floor 1 uses the standard library only, not %s", file, path)
			}
			if slices.Contains(impure, first) {
				t.Errorf("%s: floor 1 must not import %s", file, path)
			}
		}
		hasNoClock(t, file)
	}
}

// TestSimulatorStandsOnFloorOne checks that the simulator imports only floor 1, the reader of traces and the
// standard library, without clock, goroutine and files: so the core needs nothing else.
func TestSimulatorStandsOnFloorOne(t *testing.T) {
	allowed := append([]string{"internal/sim/swf"}, floors[0].packages...)
	seen := 0
	for _, file := range goFiles(t, false) {
		if !slices.Contains(floors[1].packages, packageOf(file)) {
			continue
		}
		seen++
		for _, path := range imports(t, file) {
			ours, inside := strings.CutPrefix(path, module+"/")
			first, _, _ := strings.Cut(path, "/")
			if inside && !slices.Contains(allowed, ours) || !inside && strings.Contains(first, ".") {
				t.Errorf("%s: the simulator stands on floor 1 alone, but imports %s", file, path)
			}
			if slices.Contains([]string{"os", "net", "sync", "context", "runtime"}, first) {
				t.Errorf("%s: the simulator must not import %s", file, path)
			}
		}
		hasNoClock(t, file)
	}
	if seen == 0 {
		t.Error("there is no simulator")
	}
}

// hasNoClock requires a file to take time and chance as arguments.
func hasNoClock(t *testing.T, file string) {
	t.Helper()
	text := read(t, file)
	for _, word := range ticking {
		if strings.Contains(text, word) {
			t.Errorf("%s: there is no clock and no goroutine here, but it says %q", file, strings.TrimSpace(word))
		}
	}
}

func packageOf(file string) string {
	dir := filepath.ToSlash(filepath.Dir(file))
	if dir == "." {
		return ""
	}
	return dir
}

func imports(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// root is the root of the repository, relative to this folder.
const root = "../.."

// goFiles lists the Go files of the module, relative to its root.
func goFiles(t *testing.T, tests bool) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "testdata" || isModule(path)) {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") && (tests || !strings.HasSuffix(name, "_test.go")) {
			rel, err := filepath.Rel(root, path)
			files = append(files, rel)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// isModule reports whether a directory below the root is a module of its own.
func isModule(path string) bool {
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil && filepath.Clean(path) != filepath.Clean(root)
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
