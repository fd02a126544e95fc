package sched

// backfillRule says which waiting jobs may take free room, and for which jobs room is kept. To add one, write a file
// with its type, give it a number after the others (see [Backfill]), and add it to rules. Rules have no state: the plan
// is in [backfilling], so that the rule can change at any time.
type backfillRule interface {
	placer
	// name is the name in configurations.
	name() string
	// plans says for which waiting jobs future room is planned.
	plans() planning
	// strict reports whether no job may pass a job without room.
	strict() bool
	// begin prepares a step.
	begin(e *departures)
	// start starts up to "limit" tasks, or all that may start if the limit is 0.
	start(s *Scheduler, limit int, d *Decision)
	// settled reports whether a step is sure to start nothing if nothing has happened since the last step. Otherwise a
	// step may start a task merely because the order follows the clock.
	settled(b *backfilling) bool
}

// rules lists the backfill rules by number.
var rules = []backfillRule{FirstFit: firstFit{}, FCFS: fcfs{}, EASY: easy{}, Conservative: conservative{}}

// String is the name in configurations. It is empty for a number after the last rule, so the rules are FirstFit and the
// following numbers with a name.
func (p Backfill) String() string {
	if int(p) >= len(rules) {
		return ""
	}
	return rules[p].name()
}

// follow makes the gates follow a backfill rule.
func (h *gates) follow(p Backfill) {
	h.use(rules[p], rules[p].plans(), rules[p].strict())
}

// startSome starts the tasks that may start, by the backfill rule. It stops no task, so a copy can tell which tasks
// would start in the room of stopped tasks.
func (s *Scheduler) startSome(limit int, d *Decision) {
	rule, b := rules[s.site.cfg.Backfill], &s.reserve.backfill
	if s.gates.someoneIsLate() {
		s.site.events++ // kept room begins later, so that others may start before
	}
	if s.placement.nothingNew() && rule.settled(b) {
		return
	}
	rule.begin(&s.departures)
	rule.start(s, limit, d)
	b.unfinished, s.placement.looked = d.More, s.site.events
}
