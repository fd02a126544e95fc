// Package room describes the room that backfilling keeps for a waiting job, with the numbers from which anybody can
// recompute this room. These are the tasks that run on its nodes, their planned ends, and the other planned starts
// there.
package room
