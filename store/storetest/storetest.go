// Package storetest is the contract of queue.Store as a test suite. The test of a store is one call of [Run]; every bug
// found in a store first becomes a new case here.
package storetest

import (
	"strings"
	"testing"
	"testing/synctest"
)

// Run checks that the stores that the function open returns fulfill the contract. Each case runs in virtual time, so
// the store must not wait for anything outside the process.
func Run(t *testing.T, open Open) {
	for _, c := range contract {
		if testing.Short() && !strings.HasPrefix(c.name, "Concurrent") {
			continue // the race detector finds nothing with a single caller
		}
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &suite{t: t, ctx: t.Context(), Store: open(t)}
				defer s.Close()
				c.test(s)
			})
		})
	}
}

// contract lists the cases.
var contract = []struct {
	name string
	test func(*suite)
}{
	{"SubmitGivesGrowingIDs", submitGivesGrowingIDs},
	{"SubmitKeepsEveryField", submitKeepsEveryField},
	{"SubmitRefusesOnlyTheBad", submitRefusesOnlyTheBad},
	{"SubmitIsIdempotentByKey", submitIsIdempotentByKey},
	{"KeyOfAnotherJob", keyOfAnotherJob},
	{"KeyUntilEnd", keyUntilEnd},
	{"LeaseTakesEachTaskOnce", leaseTakesEachTaskOnce},
	{"LeaseIsLostWithoutWaitingTasks", leaseIsLost},
	{"LeaseRespectsBegin", leaseRespectsBegin},
	{"LeaseRespectsMax", leaseRespectsMax},
	{"ConcurrentClaims", concurrentClaims},
	{"LeaseElsewhere", leaseElsewhere},
	{"LeaseElsewhereOfSome", leaseElsewhereOfSome},
	{"LeaseElsewhereCharges", leaseElsewhereCharges},
	{"ConcurrentElse", concurrentElse},
	{"RatesAreKept", ratesAreKept},
	{"RatesOfGangs", ratesOfGangs},
	{"RatesHoldInAnyWindow", ratesHoldInAnyWindow},
	{"HoldsAreChecked", holdsAreChecked},
	{"HoldsOfJobs", holdsOfJobs},
	{"FinishEndsTheJob", finishEndsTheJob},
	{"FinishRefusesOutcomes", finishRefuses},
	{"WaitsElsewhere", waitsElsewhere},
	{"NeverBeganElsewhere", neverBeganElsewhere},
	{"WaitsElsewhereBounds", waitsElsewhereBounds},
	{"WaitsElsewhereArray", waitsElsewhereArray},
	{"EndIsHeardOfLate", endIsHeardOfLate},
	{"StaleAttemptsChangeNothing", staleAttempts},
	{"FailureIsTriedAgain", failureIsTriedAgain},
	{"HolderChoosesTheNextAttempt", holderChooses},
	{"RefusedElsewhere", refusedElsewhere},
	{"RefusedForNow", refusedForNow},
	{"RefusedEverywhere", refusedEverywhere},
	{"RefusedOfMany", refusedOfMany},
	{"RefusedInGang", refusedInGang},
	{"ReleaseReturnsTheTask", releaseReturns},
	{"ReleaseForgetsTheStart", releaseForgetsTheStart},
	{"ExpireReturnsLostTasks", expireReturns},
	{"ExpireSetsPoisonAside", expireSetsAside},
	{"RenewKeepsTheLease", renewKeeps},
	{"RenewNeverShortens", renewNeverShortens},
	{"ArrayTasks", arrayTasks},
	{"GangIsLeasedWhole", gangIsLeasedWhole},
	{"GangWaitsAgainWhole", gangWaitsAgainWhole},
	{"GangEndsWhole", gangEndsWhole},
	{"GangCountsOnce", gangCountsOnce},
	{"CancelWaitingAndRunning", cancelJobs},
	{"CancelOnlyWaiting", cancelOnlyWaiting},
	{"CancelOnlyWaitingInterrupted", cancelOnlyWaitingInterrupted},
	{"CancelOnlyWaitingRefuses", cancelOnlyWaitingRefuses},
	{"CancelOnlyWaitingUndone", cancelOnlyWaitingUndone},
	{"HoldAndRelease", holdAndRelease},
	{"HoldsHaveOwners", holdsHaveOwners},
	{"OthersChangeWhatTheyOperate", othersChangeWhatTheyOperate},
	{"RequeueEndedAndRunning", requeueJobs},
	{"UncancelArray", uncancelArray},
	{"UncancelWhileStopping", uncancelWhileStopping},
	{"UncancelKeeps", uncancelKeeps},
	{"UncancelGang", uncancelGang},
	{"UncancelRefuses", uncancelRefuses},
	{"UncancelDependents", uncancelDependents},
	{"UncancelIsReported", uncancelIsReported},
	{"AlterTogether", alterTogether},
	{"UncancelInAnyOrder", uncancelInAnyOrder},
	{"QueryIsKept", queryIsKept},
	{"PriorityChange", priorityChange},
	{"Move", moved},
	{"Limit", timeLimited},
	{"AlterRefuses", alterRefuses},
	{"Dependencies", dependencies},
	{"RequeuedDependent", requeuedDependent},
	{"RequeuedIsRemembered", requeuedIsRemembered},
	{"StartsAreRemembered", startsAreRemembered},
	{"QuerySelects", querySelects},
	{"QueryDependents", queryDependents},
	{"SnapshotAndChanges", snapshotAndChanges},
	{"LimitsReachTheScheduler", limitsReachTheScheduler},
	{"SnapshotStops", snapshotStops},
	{"StoppedRuns", stoppedRuns},
	{"StoppedTooLate", stoppedTooLate},
	{"StopsAreKept", stopsAreKept},
	{"NotifyWakes", notifyWakes},
	{"UsageIsCharged", usageIsCharged},
	{"BalanceIsOfOneMoment", balanceIsOfOneMoment},
	{"ChargeOfTheStart", chargeOfTheStart},
	{"DaysAreKept", daysAreKept},
	{"UsageStaysFinite", usageStaysFinite},
	{"CountersAgreeWithRecount", countersAgree},
	{"EventsAreKept", eventsAreKept},
	{"SettingsAreKept", settingsAreKept},
	{"ChangesAreRecorded", changesAreRecorded},
	{"SecretsLeaveTheRecord", secretsLeaveTheRecord},
	{"HistoryIsKept", historyIsKept},
	{"HistoryAddsUp", historyAddsUp},
	{"HistoryIsForgotten", historyIsForgotten},
	{"PoolsKnowTheirBeginning", poolsKnowTheirBeginning},
	{"PoolsKnowTheirMaker", poolsKnowTheirMaker},
	{"UsersAreCounted", usersAreCounted},
	{"EndsAreRead", endsAreRead},
	{"KeysAreRead", keysAreRead},
	{"NodesArePermitted", nodesArePermitted},
	{"JoinTokensCountOnce", joinTokensCountOnce},
	{"TokensAreKept", tokensAreKept},
	{"TokensAreBounded", tokensAreBounded},
	{"ClosedStore", closedStore},
}
