package server

import (
	"log/slog"

	"github.com/fairlead/fairlead/internal/ca"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/tracing"
	"github.com/fairlead/fairlead/queue"
)

// Options are what a server needs.
type Options struct {
	Loop  *engine.Loop
	Store queue.Store
	// Forecast looks into the future of the loop. Default: a new one.
	Forecast *forecast.Forecaster
	// KeepHistory takes down how the pools fare, if the store keeps that.
	KeepHistory bool
	Program     string // version of the program
	// StoreName says where the jobs are kept, for people.
	StoreName string
	// Database is the file of the jobs, if there is one: doctor looks at its disk and who may
	// read it.
	Database string
	// Anonymous is what whoever connects over TCP without a session may see; see package config.
	Anonymous string
	// Origins are where pages of the dashboard come from that a proxy passes on.
	Origins []string
	// Config keeps the configuration in force; nil if nobody can change it.
	Config Configuration
	// CA makes the certificates of other machines; nil if none are served.
	CA     *ca.Keeper
	Logger *slog.Logger
	// Tracer tells a collector what becomes of jobs; nil if nobody wants to know.
	Tracer *tracing.Tracer
}
