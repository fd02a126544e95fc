package main

import (
	"log/slog"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
)

// logTo returns the logger for the flags --log and --log-format.
func (a *app) logTo(level, format string) (*slog.Logger, error) {
	l, err := logLevel(level)
	if err != nil {
		return nil, err
	}
	if err := checkFormat(format); err != nil {
		return nil, err
	}
	return a.logger(l, format), nil
}

// logger returns a logger that writes text or JSON.
func (a *app) logger(level slog.Level, format string) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if strings.EqualFold(format, "json") {
		return slog.New(slog.NewJSONHandler(a.errs, o))
	}
	return slog.New(slog.NewTextHandler(a.errs, o))
}

// logLevel parses --log. slog itself would also accept info+3.
func logLevel(text string) (slog.Level, error) {
	switch strings.ToLower(text) {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, usagef("--log: %q is not debug, info, warn or error", text)
}

// checkFormat checks --log-format.
func checkFormat(text string) error {
	switch strings.ToLower(text) {
	case "text", "json":
		return nil
	}
	return usagef("--log-format: %q is not text or json", text)
}

// checkDrain checks --drain.
func checkDrain(d time.Duration) error {
	if d < 0 {
		return usagef("--drain: %v is below 0s; 0s means not to wait", d)
	}
	return nil
}

// checkNode checks --name of a node or a worker.
func checkNode(name, what string) error {
	if err := engine.CheckNode(name); err != nil {
		return usagef("--name: this cannot be the name of a %s: %v", what, err)
	}
	return nil
}
