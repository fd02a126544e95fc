package server

import (
	"log/slog"

	"github.com/fairlead/fairlead/internal/ca"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/tracing"
	"github.com/fairlead/fairlead/queue"
)

// Options holds what a server needs.
type Options struct {
	Loop  *engine.Loop
	Store queue.Store
	// Forecast forecasts the loop. Default: a new one.
	Forecast *forecast.Forecaster
	// KeepHistory records how the pools fare, if the store can.
	KeepHistory bool
	Program     string // version of the program
	// StoreName says, for people, where the jobs are stored.
	StoreName string
	// Database is the file of the jobs, if there is one: doctor checks its disk and who may read it.
	Database string
	// Anonymous is what clients over TCP may see without a session; see package config.
	Anonymous string
	// Origins are those of dashboard pages behind a proxy.
	Origins []string
	// Config keeps the current configuration; nil if nobody can change it.
	Config Configuration
	// CA issues the certificates of other machines; nil if the server serves none.
	CA     *ca.Keeper
	Logger *slog.Logger
	// Tracer sends the events of jobs to a collector; nil if there is none.
	Tracer *tracing.Tracer
}
