package api

import (
	"time"
)

// Setting is an administrator's value that overrides the file while the server runs.
type Setting struct {
	Path  string    `json:"path"`
	Value string    `json:"value"`
	File  string    `json:"file,omitempty" doc:"Value in the file, or its default"`
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at,omitzero"`
}

// ConfigValue is the effective value at one place of the configuration.
type ConfigValue struct {
	Version int    `json:"version"`
	Path    string `json:"path"`
	Value   string `json:"value" doc:"Value as written in the file"`
	Set     bool   `json:"set" doc:"The value was set while the server runs, and overrides the file"`
}

// SettingsRequest changes settings, all or none.
type SettingsRequest struct {
	Settings []SettingValue `json:"settings" minItems:"1" maxItems:"1000"`
	New      bool           `json:"new,omitempty" doc:"Make pools that the file does not name"`
	Reason   string         `json:"reason,omitempty"`
}

// SettingValue is a value for one place of the configuration.
type SettingValue struct {
	Path  string `json:"path" doc:"e.g. pools.physics.weight"`
	Value string `json:"value" doc:"Value as written in the file; empty: the default"`
}

// UnsetRequest removes settings, so that the values of the file apply again.
type UnsetRequest struct {
	Paths  []string `json:"paths,omitempty"`
	All    bool     `json:"all,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// SettingsResponse describes the effect of a change.
type SettingsResponse struct {
	Version int             `json:"version"`
	Hash    string          `json:"hash" doc:"Version of the current configuration"`
	Since   time.Time       `json:"since"`
	Changes []SettingChange `json:"changes"`
	// Warnings are those of the resulting configuration.
	Warnings string `json:"warnings,omitempty"`
}

// SettingChange is one place of the configuration, before and after.
type SettingChange struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	// WasSet says that the old value was a setting, too.
	WasSet bool `json:"was_set"`
	IsSet  bool `json:"is_set"`
}

// ConfigHistory is the record of changes, newest first.
type ConfigHistory struct {
	Version int           `json:"version"`
	Entries []AuditRecord `json:"entries"`
}

// AuditRecord is one change in the record.
type AuditRecord struct {
	ID      int64     `json:"id"`
	At      time.Time `json:"at"`
	Who     string    `json:"who"`
	From    string    `json:"from" doc:"Origin of the change: socket, session, or a file"`
	What    string    `json:"what"`
	Subject string    `json:"subject"`
	Old     string    `json:"old"`
	New     string    `json:"new"`
	Refused bool      `json:"refused,omitempty"`
	Note    string    `json:"note,omitempty"`
}

// ClassLoad is the percentage of the workers that each class is entitled to.
type ClassLoad struct {
	Percents map[string]float64 `json:"percents"`
}

// RequestorMap maps requestors to classes: the first expression that matches counts.
type RequestorMap struct {
	Rules []RequestorRule `json:"rules"`
}

// RequestorRule maps the requestors that an expression matches as a whole to a class.
type RequestorRule struct {
	Requestor string `json:"requestor"`
	Class     string `json:"class"`
}

// RebalanceDuration is how long the spread must be above the threshold.
type RebalanceDuration struct {
	Seconds float64 `json:"seconds" minimum:"0"`
}

// RebalanceThreshold is the spread, in percentage points, from which tasks are stopped.
type RebalanceThreshold struct {
	Percent float64 `json:"percent" minimum:"0"`
}
