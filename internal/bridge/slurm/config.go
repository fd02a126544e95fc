package slurm

import (
	"strconv"
	"strings"
	"time"
)

// config is the configuration that slurmctld reports.
type config map[string]string

// duration reads a duration such as "300 sec".
func (c *config) duration(name string, otherwise time.Duration) time.Duration {
	number, _, _ := strings.Cut((*c)[name], " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return otherwise
	}
	return time.Duration(n) * time.Second
}

// Options of a job that may name things that Slurm does not have.
const (
	partition = "partition"
	account   = "account"
)

// accounts reports whether there may be a slurmdbd that knows accounts. slurmrestd does not report its
// configuration, so the answer is true then, and the caller must ask.
func accounts(c config) bool {
	kind := c["AccountingStorageType"]
	return kind == "accounting_storage/slurmdbd" || len(c) == 0
}
