package bridgetest

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
)

// Rig is an adapter to a queueing system that runs one entry at a time, on this machine, as the user who runs
// the tests.
type Rig struct {
	// QS is closed by the suite.
	QS bridge.QS
	// Levels are priorities that the QS takes; it serves the last one first. There are at least three.
	Levels []int64
	// Reopen makes a second adapter to the same QS, as a restarted bridge does. It finds the files of the
	// first one. The suite closes both.
	Reopen func(t *testing.T) bridge.QS
	// Restart ends the QS as a power failure of its machine would, and starts it again with the contents of
	// its disk. Running entries may have ended or continue. It returns when the QS answers again. Nil: the QS
	// cannot be restarted, and the case is skipped.
	Restart func(t *testing.T)
	// Many is how many entries one call submits; default 100.
	Many int
	// Patience is how long the QS may take for an action; default a minute.
	Patience time.Duration
	Lacks    Lacks
}

// Lacks says which abilities a QS lacks, so that the suite does not check them. A bridge works without them,
// but then cannot give the promises that depend on them; the how-to of the QS says so.
type Lacks struct {
	Marker        bool // finding an entry by its marker alone
	Absence       bool // being sure that an entry is absent: it answers Unsure
	CancelRunning bool // ending running entries
	Output        bool // returning the output of an entry
	ExitCode      bool // returning the exit code of a failed entry
	Order         bool // levels: it serves all entries in the order of submission
	EndsOnRestart bool // remembering ends over a restart
	RunsOnRestart bool // over a restart, letting entries continue or reporting their ends
}
