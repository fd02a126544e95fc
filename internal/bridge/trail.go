package bridge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
)

// TrailVariable, in the environment of a job, says through which bridges it came: for each its
// name and the mark of its ledger, the first one first.
const TrailVariable = "FAIRLEAD_TRAIL"

// station is this bridge, as it stands in the trail of a job.
func (b *Bridge) station() string { return b.o.Name + "@" + b.ledger.id }

// leaveTrail is the environment of a job with this bridge at the end of its trail.
func (b *Bridge) leaveTrail(env map[string]string) map[string]string {
	out := maps.Clone(env)
	if out == nil {
		out = map[string]string{}
	}
	out[TrailVariable] = strings.TrimPrefix(out[TrailVariable]+" "+b.station(), " ")
	return out
}

// ring says what is wrong with a job that has come through this bridge before, "" if it has not:
// its queueing system hands jobs to the server whose jobs it takes, by way of others or not,
// and the job would go round for ever.
func (b *Bridge) ring(l *api.Lease) string {
	trail := strings.Fields(l.Job.Env[TrailVariable])
	at := slices.Index(trail, b.station())
	if at < 0 {
		return ""
	}
	if at == len(trail)-1 {
		return "this job is what the bridge itself has submitted: the queue into which it submits is the server whose jobs it takes; give it the address of another one with --to"
	}
	var way []string
	for _, s := range append(trail[at:], b.station()) {
		name, _, _ := strings.Cut(s, "@")
		way = append(way, name)
	}
	return fmt.Sprintf("this job has come through this bridge before, and would go round for ever: its way through bridges is %s; end one of them, or have one take other pools than the others submit into", strings.Join(way, ", "))
}
