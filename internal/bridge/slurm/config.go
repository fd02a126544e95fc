package slurm

import (
	"strconv"
	"strings"
	"time"
)

// config is what slurmctld says of its configuration.
type config map[string]string

// duration reads one such as "300 sec".
func (c *config) duration(name string, otherwise time.Duration) time.Duration {
	number, _, _ := strings.Cut((*c)[name], " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return otherwise
	}
	return time.Duration(n) * time.Second
}

// What jobs are given that may not be there.
const (
	partition = "partition"
	account   = "account"
)

// accounts reports whether there may be a slurmdbd that knows accounts: slurmrestd does not tell its
// configuration, and has to be asked.
func accounts(c config) bool {
	kind := c["AccountingStorageType"]
	return kind == "accounting_storage/slurmdbd" || len(c) == 0
}
