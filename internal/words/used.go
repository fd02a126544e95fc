package words

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/views"
)

// UsedNow writes what running tasks use, and which part of their requests that is: 1.2G of 4G memory, 78.0% of 4 cpu.
// The requests are of each task.
func UsedNow(u *views.Used, request map[string]int64) string {
	memory := Memory(u, request) + " memory"
	if asked := request["mem"]; asked > 0 && u.Memory > asked*int64(u.Tasks) {
		memory += " (more than it asked for)"
	}
	parts := []string{memory}
	if cpu := Processors(u, request); cpu != "" {
		parts = append(parts, fmt.Sprintf("%s of %s", cpu, units.Amount("cpu", max(1, request["cpu"])*int64(u.Tasks))))
	}
	return strings.Join(parts, ", ")
}

// Memory writes the memory that running tasks use, and how much they asked for.
func Memory(u *views.Used, request map[string]int64) string {
	text := Size(u.Memory)
	if asked := request["mem"]; asked > 0 {
		return text + " of " + Size(asked*int64(u.Tasks))
	}
	return text
}

// PeakMemory writes the peak memory of an ended task, and the task's request if that is less. A request may be less
// because it only selects a node, and is no limit.
func PeakMemory(peak int64, request map[string]int64) string {
	text := Size(peak)
	if asked := request["mem"]; asked > 0 && peak > asked {
		return text + " (asked for " + Size(asked) + ")"
	}
	return text
}

// Processors writes which part of their processors running tasks have used since their starts; "" in their first
// second.
func Processors(u *views.Used, request map[string]int64) string {
	part := PartOfProcessors(u, request)
	if part < 0 {
		return ""
	}
	return Percent(part)
}

// PartOfProcessors is the part of their processors that running tasks have used since their starts; below 0 in the
// first second, in which the fraction means nothing.
func PartOfProcessors(u *views.Used, request map[string]int64) float64 {
	had := u.Elapsed * float64(max(1, request["cpu"]))
	if u.Elapsed < float64(max(1, u.Tasks)) {
		return -1
	}
	return u.CPU / had
}
