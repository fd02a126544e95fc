package api

import (
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/queue"
)

// ReserveRequest asks for nodes to be reserved for a time. For an existing reservation, omitted fields stay as they
// are.
type ReserveRequest struct {
	Nodes []string `json:"nodes,omitempty" doc:"Names of nodes"`
	Count int      `json:"count,omitempty" minimum:"0" doc:"Number of nodes to choose, if none are named"`
	// Request has the amounts that each chosen node must have.
	Request     queue.Amounts `json:"request,omitempty" doc:"Minimum resources of each chosen node"`
	Constraint  string        `json:"constraint,omitempty" doc:"Constraint on the labels of the chosen nodes"`
	From        time.Time     `json:"from,omitzero" doc:"When the reservation begins"`
	Seconds     float64       `json:"duration_seconds,omitempty" minimum:"0" doc:"How long the reservation lasts"`
	Maintenance bool          `json:"maintenance,omitempty" doc:"No job may use the nodes"`
	Pools       []string      `json:"pools,omitempty" doc:"Pools whose jobs may use the nodes, with the pools below"`
	Users       []string      `json:"users,omitempty" doc:"Users whose jobs may use the nodes"`
	Reason      string        `json:"reason,omitempty"`
	Force       bool          `json:"force,omitempty" doc:"Reserve even if tasks may still be running at the beginning"`
	DryRun      bool          `json:"dry_run,omitempty" doc:"Show the nodes, the tasks that may still be running then, and the waiting jobs that would start later; change nothing"`
}

// ReserveResponse describes a reservation that was made or ended.
type ReserveResponse struct {
	Version     int                `json:"version"`
	Reservation engine.Reservation `json:"reservation"`
	// Overruns lists tasks that may still be running when the reservation begins.
	Overruns []engine.Overrun `json:"overruns,omitempty"`
	// Delays are the waiting jobs that would start later; in a dry run.
	Delays *forecast.Delays `json:"delays,omitempty"`
}

// Reservations lists the reservations that are not over.
type Reservations struct {
	Version      int                  `json:"version"`
	At           time.Time            `json:"at"`
	Reservations []engine.Reservation `json:"reservations"`
}
