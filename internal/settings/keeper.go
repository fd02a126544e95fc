// Package settings keeps the configuration of a running server: the file, the settings with which
// administrators override it while the server runs, and the record of all changes. Package config reads
// configurations, and the loop applies them.
package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// Keeper holds the configuration that is current.
type Keeper struct {
	store Store
	path  place

	mu       sync.Mutex
	loop     Loop
	forecast Forecaster
	file     *config.Config // the last valid one
	next     *config.Config // a newer one that does not fit the settings, or nil
	over     overrides
	aside    bool // the settings do not fit the file with which the server began, and have no effect
	now      *config.Config
	since    time.Time
	bad      string // the error of the present file
	badAt    time.Time

	versions versions // of the file, oldest first
	plans    []plan

	reader *reader

	text   string // the text of textOf, cached: five thousand pools take long to write
	textOf *config.Config
}

// versionOf returns the file as a version.
func (k *Keeper) versionOf(what string) []fileVersion {
	if k.path == "" {
		return nil
	}
	return []fileVersion{{Who: "file", What: what, Hash: k.file.Shares.Hash, Text: k.file.Text()}}
}

// Bind sets the loop that applies configurations, and the forecaster.
func (k *Keeper) Bind(loop Loop, forecast Forecaster) { k.loop, k.forecast = loop, forecast }

// Config returns the current configuration.
func (k *Keeper) Config() *config.Config {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

// Status describes the current configuration, and the error of the file if it has one.
func (k *Keeper) Status() api.ConfigStatus {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.textOf != k.now {
		k.text, k.textOf = string(k.now.YAML()), k.now
	}
	st := api.ConfigStatus{Hash: k.now.Shares.Hash, File: string(k.path), Since: k.since, Text: k.text, Problem: k.bad,
		Aside: k.aside}
	if k.bad != "" {
		at := k.badAt
		st.At = &at
	}
	for _, e := range k.over {
		s := api.Setting{Path: e.Path, Value: e.Value, By: e.By, At: e.At}
		s.File, _ = k.file.Value(e.Path)
		st.Settings = append(st.Settings, s)
	}
	return st
}

// Value returns the effective value at a path.
func (k *Keeper) Value(path string) (api.ConfigValue, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := api.ConfigValue{Version: api.Version, Path: path}
	clean, err := config.CleanPath(path)
	if err == nil {
		out.Path = clean
		out.Value, err = k.now.Value(clean)
	}
	if err != nil {
		return out, queue.Missingf("%s", err.Error())
	}
	out.Set = !k.aside && k.over.has(clean)
	return out, nil
}

// Reload applies a new version of the file, with the settings over it. If the settings do not fit it, nothing
// changes.
func (k *Keeper) Reload(ctx context.Context, c *config.Config) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.Text() == k.file.Text() && k.next == nil && !k.aside && k.bad == "" {
		return nil // it was applied when it was written
	}
	if now := k.path.onDisk(); now != "" && now != c.Text() {
		return nil // the file was replaced, e.g. by a rollback, while c waited; the watcher reads it again
	}
	now, err := c.With(k.over.plain(), true)
	if err != nil {
		k.next = c
		k.problem(fmt.Errorf("the settings that were made while the server runs do not fit the new file, so the old configuration stays in use; remove these settings with fairlead config unset, or change the file:\n%s", words(err)))
		return errors.Join(err, k.refused(ctx, c.Shares.Hash, err))
	}
	entry := queue.AuditEntry{Who: "file", From: k.path.from(), What: "reload", Subject: "configuration",
		Old: k.now.Shares.Hash, New: now.Shares.Hash}
	all, change, err := k.versions.adding(fileVersion{Who: "file", What: "reload", Hash: c.Shares.Hash, Text: c.Text()})
	if err != nil {
		return err
	}
	if err := k.force(ctx, now, k.over, []queue.AuditEntry{entry}, change); err != nil {
		k.problem(later(err))
		return errors.Join(err, k.refused(ctx, now.Shares.Hash, err))
	}
	k.versions, k.file, k.next, k.aside, k.bad = all, c, nil, false, ""
	return nil
}

// later explains an error about the unit: the file is valid, but needs a restart.
func later(err error) error {
	if refused := (*queue.Invalid)(nil); errors.As(err, &refused) && refused.Field == "unit" {
		return fmt.Errorf("%s; %w", api.WaitsForRestart, err)
	}
	return err
}

// Broken records the error of the present file.
func (k *Keeper) Broken(ctx context.Context, err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.problem(errors.New(words(err)))
	return k.refused(ctx, "", err)
}

func (k *Keeper) refused(ctx context.Context, hash string, err error) error {
	return k.store.Audit(ctx, []queue.AuditEntry{{
		Who: "file", From: k.path.from(), What: "reload", Subject: "configuration", Old: k.now.Shares.Hash, New: hash, Refused: true, Note: first(err),
	}}, nil)
}

func (k *Keeper) problem(err error) { k.bad, k.badAt = err.Error(), time.Now().Round(0) }

// force applies a configuration and makes it durable, with its record and other settings that must change
// with it. After an error the old configuration stays current.
func (k *Keeper) force(ctx context.Context, c *config.Config, over overrides, record []queue.AuditEntry,
	more map[string]string) error {
	text := ""
	if len(over) > 0 {
		b, err := json.Marshal(over)
		if err != nil {
			return err
		}
		text = string(b)
	}
	if err := k.loop.Configure(ctx, c.Shares); err != nil {
		return err
	}
	kept := map[string]string{setting: text, version: c.Shares.Hash}
	maps.Copy(kept, more)
	if err := k.store.Audit(ctx, record, kept); err != nil {
		return errors.Join(fmt.Errorf("keep the settings: %w", err),
			k.loop.Configure(context.WithoutCancel(ctx), k.now.Shares))
	}
	k.now, k.over, k.since = c, over, time.Now().Round(0)
	return nil
}

// Read reads a configuration, which the caller must not change. Its errors are those of [config.Parse].
func (k *Keeper) Read(f api.ConfigFile) (*config.Config, error) {
	return k.reader.parse(f.Name, f.Text)
}

// Versions returns the versions of the file that are kept, newest first.
func (k *Keeper) Versions() api.ConfigVersions {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := api.ConfigVersions{Version: api.Version, Entries: []api.ConfigVersion{}}
	for i := range k.versions {
		out.Entries = append(out.Entries, k.versions.shown(i, k.file.Text()))
	}
	slices.Reverse(out.Entries)
	return out
}

// Version returns one version with its text.
func (k *Keeper) Version(number int) (api.ConfigVersion, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i, err := k.versions.numbered(number)
	if err != nil {
		return api.ConfigVersion{}, err
	}
	v := k.versions.shown(i, k.file.Text())
	v.Text = k.versions[i].Text
	return v, nil
}

// keep stores versions that became current without a request: at the start, or because the file changed.
func (k *Keeper) keep(ctx context.Context, more []fileVersion, record []queue.AuditEntry,
	settings map[string]string) error {
	all, change, err := k.versions.adding(more...)
	if err != nil {
		return err
	}
	maps.Copy(change, settings)
	if len(record) == 0 && len(change) == 0 {
		return nil
	}
	if err := k.store.Audit(ctx, record, change); err != nil {
		return err
	}
	k.versions = all
	return nil
}

// words returns the whole text of an error: every problem, if the error has several.
func words(err error) string {
	var problems config.Problems
	if errors.As(err, &problems) {
		return problems.Text()
	}
	return err.Error()
}

func first(err error) string {
	var problems config.Problems
	text := err.Error()
	if errors.As(err, &problems) {
		text = problems.Error()
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}
