// Package bridgetest is the contract of bridge.QS as a test suite. The test of an adapter
// is one call of [Run]; a bug that is found in an adapter is first a new case here.
//
// The queueing system is a real one: the cases put commands of the shell into it, which
// leave traces in files, and read there what ran, how often and in which order.
package bridgetest

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
)

// Rig is an adapter with a queueing system behind it that runs one entry at a time, on this
// machine, as the user who tests.
type Rig struct {
	// QS is closed by the suite.
	QS bridge.QS
	// Levels are priorities that the QS takes, served in this order: the last one first. At
	// least three.
	Levels []int64
	// Reopen makes a second adapter to the same QS, as a bridge does that is started again.
	// What it may have kept in a file it finds there. The suite closes both.
	Reopen func(t *testing.T) bridge.QS
	// Restart ends the QS as a failure of its machine's power would, and starts it again with
	// what was on its disk. What ran meanwhile may have ended or go on. It returns when the QS
	// is there again. Nil: it cannot be restarted here, and the case is skipped.
	Restart func(t *testing.T)
	// Many is how many entries are put in at once; default 100.
	Many int
	// Patience is how long the QS may take to get to something; default a minute.
	Patience time.Duration
	Lacks    Lacks
}

// Lacks says what a QS cannot do, so that the suite does not ask for it. The bridge gets on
// without, but then cannot promise what depends on it; the how-to of the QS says so.
type Lacks struct {
	Marker        bool // finding an entry by its marker alone
	Absence       bool // being sure that an entry is not there: it says Unsure
	CancelRunning bool // ending what runs
	Output        bool // telling what an entry printed
	ExitCode      bool // telling with which code an entry failed
	Order         bool // levels: all entries are served in the order of their submission
	EndsOnRestart bool // remembering ends over a restart
	RunsOnRestart bool // letting go on, or telling the fate of, what ran when it was restarted
}

// Open returns a rig for one case. The QS may be one for all cases: each leaves nothing in it
// that would run, and has markers of its own.
type Open func(t *testing.T) *Rig

// Run checks that adapters that open returns keep the contract.
func Run(t *testing.T, open Open) {
	for _, c := range contract {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t, open(t))
			if c.skip != nil && c.skip(&s.rig.Lacks) {
				t.Skip("the queueing system cannot do that, as its rig says")
			}
			c.test(s)
		})
	}
}

// contract are the cases.
var contract = []struct {
	name string
	test func(*suite)
	skip func(*Lacks) bool
}{
	{"DescribesItself", describes, nil},
	{"RunsACommand", runs, nil},
	{"TellsFailures", failures, nil},
	{"CommandNotFound", notFound, nil},
	{"ServesLevelsThenFirstComeFirst", order, nil},
	{"FindsByMarker", byMarker, func(l *Lacks) bool { return l.Marker }},
	{"WhatIsNotThere", absent, nil},
	{"CancelsWhatWaits", cancelWaiting, nil},
	{"CancelsWhatRuns", cancelRunning, func(l *Lacks) bool { return l.CancelRunning }},
	{"CancelsWhatIsOver", cancelEnded, nil},
	{"CancelsByMarker", cancelByMarker, func(l *Lacks) bool { return l.Marker }},
	{"Forgets", forgets, nil},
	{"AnotherAdapterGoesOn", reopens, nil},
	{"RestartLosesNothing", restarts, nil},
	{"ManyAtOnce", many, nil},
	{"KeepsArgumentsAsTheyAre", arguments, nil},
	{"RunsAScript", scripts, nil},
	{"NamesAreOnlyNames", names, nil},
	{"TellsOfChanges", changes, nil},
	{"SeveralAtATime", concurrent, nil},
	{"GivesUpInTime", deadline, nil},
}
