package bridge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/environ"
)

// station is the entry of a bridge in the trail of a job: its name and the id of its ledger.
type station string

func (s *state) station() station { return station(s.o.Name + "@" + s.ledger.id) }

// leave returns the environment of a job with this bridge at the end of its trail.
func (x station) leave(env map[string]string) map[string]string {
	out := maps.Clone(env)
	if out == nil {
		out = map[string]string{}
	}
	out[environ.Trail] = strings.TrimPrefix(out[environ.Trail]+" "+string(x), " ")
	return out
}

// ring says why the bridge refuses a job that has come through it before, and returns "" for other jobs. The
// queueing system of this bridge then hands jobs, directly or through other bridges, to the server whose
// jobs the bridge takes. Without the refusal the job would circulate forever.
func (x station) ring(l *api.Lease) string {
	trail := strings.Fields(l.Job.Env[environ.Trail])
	at := slices.Index(trail, string(x))
	if at < 0 {
		return ""
	}
	if at == len(trail)-1 {
		return "the bridge itself has submitted this job: it submits to the same server whose jobs " +
			"it takes; give it the address of another one with --to"
	}
	var way []string
	for _, s := range append(trail[at:], string(x)) {
		name, _, _ := strings.Cut(s, "@")
		way = append(way, name)
	}
	return fmt.Sprintf("this job has come through this bridge before, and would go in a circle forever: its path through "+
		"bridges is %s; end one of them, or let one take only pools into which the others do not submit",
		strings.Join(way, ", "))
}
