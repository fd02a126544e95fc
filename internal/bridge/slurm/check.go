package slurm

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// blanks are the placeholders in options; each job fills them in.
var blanks = []string{"{user}", "{pool}", "{leaf}", "{top}"}

var braced = regexp.MustCompile(`\{[^}]*\}?`)

// check refuses wrong options, as far as that is possible without asking Slurm.
func (o *Options) check() error {
	for _, t := range []struct{ name, text string }{
		{"account", o.Account}, {"partition", o.Partition}, {"slurm-qos", o.QOS}, {"output", o.Output},
	} {
		for _, blank := range braced.FindAllString(t.text, -1) {
			if !slices.Contains(blanks, blank) {
				return fmt.Errorf("--%s: %s is not a field that is replaced; known: %s", t.name, blank, strings.Join(blanks, ", "))
			}
		}
	}
	if o.Conf == "" {
		return nil
	}
	f, err := os.Open(o.Conf)
	if err != nil {
		return fmt.Errorf("--conf: %w; name the slurm.conf of the cluster, which the bridge must be able to read", err)
	}
	return f.Close()
}
