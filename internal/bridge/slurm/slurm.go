// Package slurm lets a bridge submit jobs to Slurm, by its commands or by slurmrestd.
//
// A priority that is set directly does not age in Slurm, and front and back rely on that. Only operators,
// administrators, SlurmUser and root may set one. The name of each submission is its marker, so that the
// bridge finds it in the queue and in the accounting. The numbers of jobs are not enough, because a slurmctld
// that lost its state reuses them.
package slurm

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
)

// Options describes a Slurm and the way to submit jobs to it.
type Options struct {
	// Conf is its slurm.conf. Default: where Slurm's commands look for it.
	Conf string
	// Path is the search path for its commands. Default: the PATH of the bridge.
	Path string
	// REST is a slurmrestd to use instead of the commands.
	REST *REST

	// Account, Partition, QOS and Output are options of each job. In them {user} stands for the job's user,
	// {pool} for its pool, {leaf} for the last and {top} for the first name in the path of the pool. Default:
	// Slurm's own defaults.
	Account, Partition, QOS, Output string

	// AnyUser lets the jobs of all users run as the user of the bridge; without it only the jobs of this user
	// run. A bridge that runs as root submits each job as its user.
	AnyUser   bool
	AllowRoot bool // jobs of root may run

	Logger *slog.Logger
}

// REST describes a slurmrestd.
type REST struct {
	URL     string
	User    string // the user of the token, as whom jobs run
	Token   func() (string, error)
	Version string // of its interface. Default: v0.0.38
}

// QS is a Slurm.
type QS struct {
	options Options
	log     *slog.Logger
	door    door

	mu sync.Mutex
	// config is the last configuration that was read; nil: none yet.
	config *config
	read   time.Time
	// The map asked holds requested priorities that Slurm has not shown yet. The field other is a priority
	// that Slurm did not obey.
	asked map[string]int64
	other *disobedience
}

var _ bridge.QS = (*QS)(nil)

// door is a way to talk to a Slurm.
type door interface {
	// submit returns the number of the job.
	submit(ctx context.Context, r *request) (string, error)
	// queue returns the records of slurmctld about jobs with these names. slurmctld keeps a job for a while
	// after its end.
	queue(ctx context.Context, names []string) ([]record, error)
	// accounting returns the records of slurmdbd about jobs with these numbers, or these names, that existed
	// since an instant.
	accounting(ctx context.Context, ids, names []string, since time.Time) ([]record, error)
	cancel(ctx context.Context, ids []string) error
	// backlog returns how many messages slurmctld still has for slurmdbd.
	backlog(ctx context.Context) (int, error)
	configuration(ctx context.Context) (*config, error)
	// rank returns our administrative level: None, Operator or Administrator.
	rank(ctx context.Context) (string, error)
	// has reports whether Slurm has a partition, or an account.
	has(ctx context.Context, what, name string) (bool, error)
	// runsAs returns the user as whom all jobs run, or "" if each runs as its own user.
	runsAs() string
	close()
}

// Changed returns nil: Slurm does not signal changes.
func (q *QS) Changed() <-chan struct{} { return nil }

// Forget drops only the data that the bridge stores about the entries: Slurm keeps its accounting for its own
// purposes.
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

// disobedience is a priority that Slurm did not obey.
type disobedience struct {
	asked, got int64
	id         string
}
