// Package bridgetest is the contract of bridge.QS as a test suite. The test of an adapter is one call of
// [Run]; a bug in an adapter is first a new case here.
//
// The queueing system is a real one. The cases submit shell commands to it, which leave traces in files.
// From these files they learn which commands ran, how often and in which order.
package bridgetest

import "testing"

// Open returns a rig for one case. All cases may use the same QS: each uses its own markers, and leaves
// nothing in the QS that would run.
type Open func(t *testing.T) *Rig

// Run checks that the adapters that the function open returns keep the contract.
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

// contract lists the cases.
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
