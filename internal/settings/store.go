package settings

import (
	"context"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/queue"
)

// setting is the key under which the settings are kept, hash that of the version of the
// configuration that was in force last.
const (
	setting = "config/settings"
	version = "config/version"
	// inForce is the key of the number of the version of the file that is in force, 0 for the
	// defaults.
	inForce = "config/in-force"
)

// Store is what the keeper needs of a store.
type Store interface {
	queue.Settings
	queue.Auditor
}

// Loop is where a configuration takes force.
type Loop interface {
	Configure(ctx context.Context, s allocation.Config) error
}

// Forecaster says what would become of the jobs that wait under another configuration.
type Forecaster interface {
	Forecast(ctx context.Context, s allocation.Config) (*forecast.Forecast, error)
}
