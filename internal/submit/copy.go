package submit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/units"
)

// Copy returns the texts of the flags that describe a job like another, by the names of the flags. It leaves out the
// properties that belong only to that job (its hold, its key, the jobs that it waits for, its earliest start), and
// its variables.
func Copy(s *api.Spec) map[string]string {
	out := map[string]string{
		"name": s.Name, "kind": s.Kind, "pool": s.Pool, "qos": s.QOS, "constraint": s.Constraint,
		"reservation": s.Reservation, "array": s.Array, "output": s.Output, "error": s.Error, "chdir": s.Dir,
		"requestor": s.Requestor, "nice": number(s.Nice), "retries": number(s.Retries),
		"max-running": number(s.MaxRunning), "rate": strings.Join(s.Rates, ","), "time": "unlimited",
	}
	if s.Priority != "normal" {
		out["priority"] = s.Priority
	}
	if s.LimitSeconds > 0 {
		out["time"] = units.FormatDuration(seconds(s.LimitSeconds))
	}
	if s.BackoffSeconds > 0 {
		out["backoff"] = units.FormatDuration(seconds(s.BackoffSeconds))
	}
	if s.Spread {
		out["nodes"] = number(s.Gang)
	} else {
		out["tasks"] = number(s.Gang)
	}
	var licenses []string
	for _, name := range slices.Sorted(maps.Keys(s.Licenses)) {
		licenses = append(licenses, fmt.Sprint(name, ":", s.Licenses[name]))
	}
	out["licenses"] = strings.Join(licenses, ",")
	copyRequest(out, s.Request)
	if strings.Contains(s.Array, "%") {
		delete(out, "max-running") // the array says it
	}
	maps.DeleteFunc(out, func(_, text string) bool { return text == "" })
	return out
}

// copyRequest adds the texts for the resources of a task.
func copyRequest(out map[string]string, request map[string]int64) {
	var gpus, others []string
	for _, name := range slices.Sorted(maps.Keys(request)) {
		n := request[name]
		kind, typed := strings.CutPrefix(name, "gpu:")
		switch {
		case name == "cpu":
			out["cpus"] = fmt.Sprint(n)
		case name == "mem":
			out["mem"] = units.FormatSize(n)
		case name == "gpu":
			gpus = append(gpus, fmt.Sprint(n))
		case typed:
			gpus = append(gpus, fmt.Sprint(kind, ":", n))
		default:
			others = append(others, fmt.Sprint(name, "=", n))
		}
	}
	out["gpus"], out["request"] = strings.Join(gpus, ","), strings.Join(others, ",")
}

// number writes a number, and nothing for 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
