package slurm

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// blanks are what is filled in into what each job is given.
var blanks = []string{"{user}", "{pool}", "{leaf}", "{top}"}

var braced = regexp.MustCompile(`\{[^}]*\}?`)

// check says what is wrong with options, as far as that can be known before Slurm is asked.
func (o *Options) check() error {
	for _, t := range []struct{ name, text string }{{"account", o.Account}, {"partition", o.Partition}, {"slurm-qos", o.QOS}, {"output", o.Output}} {
		for _, blank := range braced.FindAllString(t.text, -1) {
			if !slices.Contains(blanks, blank) {
				return fmt.Errorf("--%s: %s is nothing that can be filled in; known: %s", t.name, blank, strings.Join(blanks, ", "))
			}
		}
	}
	if o.Conf == "" {
		return nil
	}
	f, err := os.Open(o.Conf)
	if err != nil {
		return fmt.Errorf("--conf: %w; it is to be the slurm.conf of the cluster, which the bridge may read", err)
	}
	return f.Close()
}

// hints are the next steps after what Slurm says, by a part of that.
var hints = []struct{ said, hint string }{
	{"could not establish a configuration source", "Slurm's commands find no slurm.conf: name it with --conf"},
	{"invalid account", "the account is what the bridge's --account says, or the default of the user: sacctmgr show assoc tells which there are"},
	{"invalid partition", "the partition is what the bridge's --partition says: sinfo tells which there are"},
	{"invalid qos", "the quality of service is what the bridge's --slurm-qos says: sacctmgr show qos tells which there are"},
	{"access/permission denied", "let an administrator make the bridge's user an operator: sacctmgr modify user NAME set adminlevel=Operator"},
	{"invalid authentication credential", "the token has run out or is another user's: make a new one with scontrol token username=NAME lifespan=SECONDS"},
	{"connect failure", "is it running, and is the address right? scontrol ping tells of slurmctld"},
	{"communication connection failure", "is slurmctld running? scontrol ping tells, and SlurmctldHost in slurm.conf is its address"},
}

// hinted is what a command said, with the next step if there is one.
func hinted(text string) string {
	said := strings.ToLower(text)
	for _, h := range hints {
		if strings.Contains(said, h.said) {
			return text + "; " + h.hint
		}
	}
	return text
}

// plain is what a command printed as an error, on one line, without its own name before each.
func plain(name, said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{name + ": ", "error: ", "fatal: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		if line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}
