// Package bridgetest is the contract of bridge.QS as a test suite. The test of an adapter
// is one call of [Run]; a bug that is found in an adapter is first a new case here.
//
// The queueing system is a real one: the cases put commands of the shell into it, which
// leave traces in files, and read there what ran, how often and in which order.
package bridgetest

import "testing"

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
