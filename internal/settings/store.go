package settings

import (
	"context"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/queue"
)

// setting is the key of the settings, and version that of the hash of the configuration that was last
// current.
const (
	setting = "config/settings"
	version = "config/version"
	// inForce is the key of the number of the current version of the file; 0 means the defaults.
	inForce = "config/in-force"
)

// Store is the part of a store that the keeper needs.
type Store interface {
	queue.Settings
	queue.Auditor
}

// Loop applies a configuration.
type Loop interface {
	Configure(ctx context.Context, s allocation.Config) error
}

// Forecaster forecasts the starts of waiting jobs under another configuration.
type Forecaster interface {
	Forecast(ctx context.Context, s allocation.Config) (*forecast.Forecast, error)
}
