// Package slurm lets a bridge put jobs into Slurm, with its own commands or by slurmrestd.
//
// A priority that is set directly does not age in Slurm, and front and back rely
// on that; only operators, administrators, SlurmUser and root may set one. Each
// submission has its marker as its name, so that it is found in the queue and in the
// accounting. Numbers of jobs alone would not do: a slurmctld that lost its state gives them
// again.
package slurm

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
)

// Options describe a Slurm and how jobs go into it.
type Options struct {
	// Conf is its slurm.conf. Default: where Slurm's commands look for it.
	Conf string
	// Path is where its commands are looked for. Default: that of the bridge.
	Path string
	// REST is slurmrestd, in place of the commands.
	REST *REST

	// Account, Partition, QOS and Output are given to each job. In them {user} is the job's
	// user, {pool} its pool, {leaf} the last and {top} the first part of that. Default: what
	// Slurm takes by itself.
	Account, Partition, QOS, Output string

	// AnyUser lets jobs of whatever user run as the user of the bridge, which otherwise only
	// those of that user do. A bridge that runs as root submits each job as its user.
	AnyUser   bool
	AllowRoot bool // jobs of root may run

	Logger *slog.Logger
}

// REST is a slurmrestd.
type REST struct {
	URL     string
	User    string // whose token it is, and as whom jobs run
	Token   func() (string, error)
	Version string // of its interface. Default: v0.0.38
}

// QS is a Slurm.
type QS struct {
	options Options
	log     *slog.Logger
	door    door

	mu sync.Mutex
	// config is what the configuration said last; nil: it was not read yet.
	config *config
	read   time.Time
	// asked are priorities that were asked for and have not been seen yet, other one that
	// was not obeyed.
	asked map[string]int64
	other *disobedience
}

var _ bridge.QS = (*QS)(nil)

// door is a way to speak to a Slurm.
type door interface {
	// submit returns the number of the job.
	submit(ctx context.Context, r *request) (string, error)
	// queue has the records of slurmctld about jobs with these names. It still knows jobs that ended
	// a while ago.
	queue(ctx context.Context, names []string) ([]record, error)
	// accounting is what slurmdbd knows of jobs with these numbers, or these names, that
	// were there since an instant.
	accounting(ctx context.Context, ids, names []string, since time.Time) ([]record, error)
	cancel(ctx context.Context, ids []string) error
	// backlog is how much slurmctld has to tell slurmdbd yet.
	backlog(ctx context.Context) (int, error)
	configuration(ctx context.Context) (*config, error)
	// rank is the administrative level of whom we are: None, Operator or Administrator.
	rank(ctx context.Context) (string, error)
	// has tells whether there is a partition, or an account.
	has(ctx context.Context, what, name string) (bool, error)
	// runsAs is the user as whom jobs run, "" if each runs as its own.
	runsAs() string
	close()
}

// Changed is nil: Slurm does not tell.
func (q *QS) Changed() <-chan struct{} { return nil }

// Forget drops nothing: Slurm keeps its accounting for its own purposes.
func (q *QS) Forget(ctx context.Context, all []bridge.Entry) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range all {
		delete(q.asked, e.Marker)
	}
	return nil
}

// Close closes the connections.
func (q *QS) Close() error {
	q.door.close()
	return nil
}

// disobedience is a priority that was not obeyed.
type disobedience struct {
	asked, got int64
	id         string
}
