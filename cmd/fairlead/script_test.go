package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
)

// update makes tests rewrite the expected output in scripts and pages.
var update = flag.Bool("update", false, "write the expected output anew")

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"fairlead": main, "intruder": intruder})
}

// lively lists the scripts for -short and for the race detector: servers with agents, several users, and
// changes while tasks run. The other scripts check the output of single commands.
var lively = []string{"config_set", "first", "gang", "limits", "nodes", "refuse", "submit"}

// TestScripts runs the scripts in testdata/script: each is a session with the program and its expected
// output.
func TestScripts(t *testing.T) {
	t.Parallel()
	dir, files := "testdata/script", []string(nil)
	if testing.Short() {
		for _, name := range lively {
			files = append(files, filepath.Join(dir, name+".txtar"))
		}
		dir = ""
	}
	sockets := t.TempDir() // shared by the scripts: their servers end after they do
	os.Chmod(filepath.Dir(sockets), 0o755)
	os.Chmod(sockets, 0o755)
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               func(e *testscript.Env) error { return setup(e, sockets) },
		UpdateScripts:       *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitserver": waitServer, "until": until, "statusis": statusIs, "badbytes": badBytes, "jobhas": jobHas, "big": big,
			"docfile": docFile, "groups": groupsOf,
		},
	})
}

// setup gives each script its own home and socket. Paths of sockets have to be short.
func setup(e *testscript.Env, sockets string) error {
	socket := filepath.Join(sockets, strings.TrimPrefix(filepath.Base(e.WorkDir), "script-"))
	// Only our user may enter a directory above the work directory, but jobs of other users run there.
	for d := e.WorkDir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		os.Chmod(d, 0o755)
	}
	e.Setenv("HOME", e.WorkDir)
	e.Setenv("SOCKET", socket)
	e.Setenv("FAIRLEAD_SERVER", socket)
	e.Setenv("TZ", "UTC")
	e.Setenv("ESCAPE", "red\x1b[31m")
	if err := os.WriteFile(filepath.Join(e.WorkDir, "crlf.sh"), []byte("#!/bin/sh\r\ntrue\r\n"), 0o755); err != nil {
		return err
	}
	e.Setenv("BYTES", "\xff")
	e.Setenv("NO_COLOR", "1")
	return nil
}

// patience is the longest time for which a script waits for anything.
const patience = 2 * time.Minute

// waitServer waits until the server of the script accepts connections, or with ! until it does not.
func waitServer(ts *testscript.TestScript, neg bool, args []string) {
	if !await.Within(patience, func() bool {
		c, err := net.Dial("unix", ts.Getenv("SOCKET"))
		if err == nil {
			c.Close()
		}
		return (err == nil) != neg
	}) {
		ts.Fatalf("the server does not answer, or does not end")
	}
}

// until repeats a command until its output matches: until REGEXP COMMAND...
func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: until REGEXP COMMAND...")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	last := ""
	if await.Within(patience, func() bool {
		ts.Exec(args[1], args[2:]...)
		last = ts.ReadFile("stdout")
		return re.MatchString(last)
	}) {
		return
	}
	ts.Fatalf("%s never printed %s; at last:\n%s", strings.Join(args[1:], " "), args[0], last)
}

// statusIs runs a command and checks its exit status: statusis 2 fairlead ...
func statusIs(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		if m := regexp.MustCompile(`exit status (\d+)`).FindStringSubmatch(err.Error()); m != nil {
			got = m[1]
		} else {
			got = err.Error()
		}
	}
	if (got == args[0]) == neg {
		ts.Fatalf("exit status %s, want %s\n%s%s", got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
	fmt.Fprintln(ts.Stdout(), ts.ReadFile("stdout"))
	fmt.Fprintln(ts.Stderr(), ts.ReadFile("stderr"))
}

// jobHas checks the server's document about a job, environment included: jobhas ID REGEXP.
func jobHas(ts *testscript.TestScript, neg bool, args []string) {
	c, err := api.Dial(ts.Getenv("SOCKET"))
	ts.Check(err)
	defer c.Close()
	id, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	j, err := c.Jobs.Get(context.Background(), id)
	ts.Check(err)
	text, err := json.Marshal(j)
	ts.Check(err)
	if regexp.MustCompile(args[1]).Match(text) == neg {
		ts.Fatalf("%s in job %d: %v\n%s", args[1], id, neg, text)
	}
}

// badBytes writes a script that is not UTF-8: badbytes FILE.
func badBytes(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte("#!/bin/sh\n#FL --job-name=\xff\xfe\ntrue\n"), 0o755))
}

// big writes a script of about this many bytes: big FILE BYTES.
func big(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := "#!/bin/sh\n" + strings.Repeat("# nothing\n", n/10)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o755))
}
