// Package script reads the directives in job scripts: #FL lines with the flags of fairlead submit, and
// #SBATCH and #PBS lines of scripts for Slurm and PBS. It translates them into flags of submit, and lists the
// directives that it cannot translate.
package script

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxSize is the largest size of a script, in bytes.
const MaxSize = 256 << 10

// Parse reads the directives before the first command of a script, like sbatch. Errors name the line. Options of
// sbatch from a command line override those of the script.
func Parse(text []byte, words ...string) (*Directives, error) {
	switch {
	case len(text) > MaxSize:
		return nil, fmt.Errorf("the script has more than %d bytes: put the work into a program that it calls", MaxSize)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, errors.New("the script is empty")
	case bytes.IndexByte(text, 0) >= 0:
		return nil, errors.New("this is not a script but a binary file; to run a program: fairlead submit -- PROGRAM")
	case bytes.HasPrefix(text, []byte("\ufeff")):
		// The kernel would not recognize the #!, and another shell would run the script.
		return nil, errors.New("the script begins with a byte order mark, as editors of Windows write it; " +
			"remove that, e.g. with sed -i '1s/^\\xef\\xbb\\xbf//'")
	}
	if i := bytes.Index(text, []byte("\r\n")); i >= 0 {
		// The kernel would search an interpreter whose name ends in a carriage return.
		return nil, fmt.Errorf("line %d ends in a carriage return (\\r): the script has the line ends of Windows; convert it, e.g. with dos2unix or sed -i 's/\\r$//'", 1+bytes.Count(text[:i], []byte("\n")))
	}
	d := &Directives{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			break
		}
		if err := d.line(line, number); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := d.commandLine(words); err != nil {
		return nil, err
	}
	d.layOut()
	return d, nil
}

// Options reads options of sbatch that were given on a command line.
func Options(words ...string) (*Directives, error) {
	d := &Directives{}
	if err := d.commandLine(words); err != nil {
		return nil, err
	}
	d.layOut()
	return d, nil
}

func (d *Directives) commandLine(words []string) error {
	if len(words) == 0 {
		return nil
	}
	d.Compat = "slurm"
	return d.sbatchWords(words, 0, "")
}

func (d *Directives) line(line string, number int) error {
	for _, system := range []struct {
		prefix, compat string
		comments       bool // a # inside a word also begins a comment
		read           func(*Directives, []string, int) error
	}{
		{"#FL", "", false, (*Directives).own},
		{"#SBATCH", "slurm", true, (*Directives).sbatch},
		{"#PBS", "pbs", false, (*Directives).pbs},
	} {
		rest, ok := strings.CutPrefix(line, system.prefix)
		if !ok || rest == "" || !strings.ContainsRune(" \t-", rune(rest[0])) {
			continue
		}
		if !utf8.ValidString(rest) {
			return errors.New("the directive has letters that are not UTF-8: convert the script, e.g. with iconv")
		}
		words, err := split(rest, system.comments)
		if err != nil {
			return err
		}
		if system.compat != "" {
			d.Compat = system.compat
		}
		return system.read(d, words, number)
	}
	return nil
}

// ownLetters are the letters of flags of submit that a script may set.
var ownLetters = map[string]string{
	"J": "name", "c": "cpus", "G": "gpus", "t": "time", "A": "pool", "k": "kind", "a": "array", "d": "after",
	"b": "begin", "H": "hold", "o": "output", "e": "error", "D": "chdir", "L": "licenses", "C": "constraint",
	"N": "nodes", "n": "tasks",
}

// ownFlags are the flags of submit that a script may set, and whether each takes a value.
var ownFlags = map[string]bool{
	"name": true, "cpus": true, "mem": true, "mem-per-cpu": true, "gpus": true, "time": true, "pool": true,
	"kind": true, "array": true, "after": true, "begin": true, "hold": false, "output": true, "error": true,
	"chdir": true, "priority": true, "retries": true, "backoff": true, "export": true, "request": true,
	"requestor": true, "max-running": true, "key": true, "nodes": true, "tasks": true, "qos": true, "nice": true,
	"licenses": true, "rate": true, "constraint": true, "reservation": true,
}

// own reads a #FL line.
func (d *Directives) own(words []string, number int) error {
	long := func(name string) string {
		if l, ok := ownLetters[name]; ok {
			return l
		}
		return name
	}
	opts, err := options(words, func(name string) bool { return ownFlags[long(name)] })
	if err != nil {
		return err
	}
	for _, o := range opts {
		name := long(o.name)
		takes, known := ownFlags[name]
		if !known {
			return fmt.Errorf("%s is not a flag of fairlead submit that a script may set", o.text)
		}
		if !takes {
			o.value = "true"
		}
		d.set(number, name, o.value)
	}
	return nil
}
