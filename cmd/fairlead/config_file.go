package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
)

// loadConfig reads a configuration for use, and prints its warnings.
func loadConfig(a *app, file string) (*config.Config, error) {
	cfg, err := config.Load(file)
	var problems config.Problems
	switch {
	case errors.As(err, &problems):
		fmt.Fprint(a.errs, problems.Text())
		return nil, exit(api.ExitUsage)
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("%w; see the defaults with: fairlead config show --defaults", err)
	case err != nil:
		return nil, usageError{err}
	}
	if len(cfg.Problems) > 0 {
		fmt.Fprint(a.errs, cfg.Problems.Text())
	}
	return cfg, nil
}
