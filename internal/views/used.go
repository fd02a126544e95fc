package views

import "time"

// Used holds the resources that running tasks use, as their agents measure them at intervals.
type Used struct {
	Tasks   int        `json:"tasks,omitempty" doc:"Measured tasks"`
	CPU     float64    `json:"cpu_seconds" doc:"Processor time since the start"`
	Memory  int64      `json:"memory_bytes" doc:"Memory in use, of all processes; shared memory counts for each"`
	Elapsed float64    `json:"elapsed_seconds" doc:"Time since the start; of several tasks the sum"`
	At      *time.Time `json:"at,omitempty" doc:"When it was reported; of several tasks the earliest"`
}
