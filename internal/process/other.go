//go:build !linux

package process

import (
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/queue"
)

var errSystem = fmt.Errorf("process: tasks run as processes on Linux only: %w", errors.ErrUnsupported)

// Runner cannot start anything on this system.
type Runner struct{}

// Process does not occur on this system.
type Process struct{}

// NewRunner returns an error.
func NewRunner() (*Runner, error) { return nil, errSystem }

// Start returns an error.
func (*Runner) Start(Spec) (*Process, error) { return nil, errSystem }

// Close does nothing.
func (*Runner) Close() {}

// Wait returns nothing.
func (*Process) Wait() queue.Outcome { return queue.Outcome{} }

// Stop does nothing.
func (*Process) Stop(string, queue.State) {}

// Kill does nothing.
func (*Process) Kill(string, queue.State) {}

// Used is what a running task uses.
type Used struct {
	CPU     time.Duration
	Memory  int64
	Elapsed time.Duration
}

// Measure returns nothing.
func Measure(tasks []*Process) []Used { return make([]Used, len(tasks)) }

// KillSurvivors returns an error.
func KillSurvivors(string) (int, error) { return 0, errSystem }
