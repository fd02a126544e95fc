package slurm

import (
	"cmp"
	"log/slog"
)

// Open returns the Slurm that the options describe. It does not contact Slurm.
func Open(o Options) (*QS, error) {
	q := &QS{options: o, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), asked: map[string]int64{}}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.REST != nil {
		d, err := openREST(*o.REST)
		q.door = d
		return q, err
	}
	d, err := openCommands(o)
	q.door = d
	return q, err
}
