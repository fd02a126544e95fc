// Package room describes the room that backfilling keeps for a waiting job, with the numbers from which anybody can
// recompute it: the tasks that run on its nodes, when each is planned to end, and the other planned starts there.
package room
