// Package settings keeps the configuration of a server that runs: the file, what
// administrators put over it while the server runs, and the record of who changed what.
// How a configuration is read is package config's part, what it means the loop's.
package settings

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
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
	fairlead.Settings
	fairlead.Auditor
}

// Loop is where a configuration takes force.
type Loop interface {
	Configure(ctx context.Context, s fairlead.Shares) error
	Foresee(ctx context.Context, s fairlead.Shares) (*fairlead.Foresight, error)
}

// Keeper holds the configuration in force.
type Keeper struct {
	store Store
	path  string // of the file; "" without one

	mu    sync.Mutex
	loop  Loop
	file  *config.Config // the last good one
	next  *config.Config // a newer one that the settings do not fit, or nil
	over  []entry
	aside bool // the settings do not fit the file with which the server began
	now   *config.Config
	since time.Time
	bad   string // what is wrong with the file as it is now
	badAt time.Time

	versions []fileVersion // of the file, oldest first
	plans    []plan

	reader *reader

	text   string // of the configuration textOf: of five thousand pools it takes long to write
	textOf *config.Config
}

// entry is a setting with who gave it.
type entry struct {
	config.Setting
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Open reads the settings that are kept, and puts them over the file. If they do not fit
// it, they are set aside, and the keeper says so. Where other servers than the one of this
// name are there, what is in force with them is taken over in place of the file.
func Open(ctx context.Context, store Store, file *config.Config, path, name string) (*Keeper, error) {
	k := &Keeper{store: store, path: path, file: file, now: file, since: time.Now().Round(0), reader: &reader{}}
	kept, err := store.Settings(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	if follows, err := others(ctx, store, name); err != nil {
		return nil, fmt.Errorf("ask for other servers: %w", err)
	} else if follows {
		return k, k.follow(ctx, kept)
	}
	if k.over, err = loadSettings(kept); err != nil {
		return nil, err
	}
	var entries []fairlead.AuditEntry
	if now, err := file.With(plain(k.over), true); err == nil {
		k.now = now
	} else {
		k.aside = true
		k.problem(fmt.Errorf("the settings that were made while the server ran do not fit the file, and are not in force; give them back with fairlead config unset, or change the file:\n%s", words(err)))
		entries = append(entries, fairlead.AuditEntry{Who: "fairlead", From: k.from(), What: "settings aside", Refused: true, Note: first(err)})
	}
	if last := kept[version]; last != k.now.Shares.Hash {
		entries = append(entries, fairlead.AuditEntry{Who: "fairlead", From: k.from(), What: "start", Subject: "configuration", Old: last, New: k.now.Shares.Hash})
	}
	if k.versions, err = loadVersions(kept); err != nil {
		return nil, err
	}
	settings := map[string]string{}
	if len(entries) > 0 {
		settings[version] = k.now.Shares.Hash
	}
	if path == "" && kept[inForce] != "0" {
		settings[inForce] = "0"
	}
	return k, k.keep(ctx, k.versionOf("start"), entries, settings)
}

// loadSettings reads what was put over the file.
func loadSettings(kept map[string]string) (over []entry, err error) {
	if text := kept[setting]; text != "" {
		if err := json.Unmarshal([]byte(text), &over); err != nil {
			return nil, fmt.Errorf("the settings that are kept cannot be read: %w", err)
		}
	}
	return over, nil
}

// versionOf is the file as a version of it.
func (k *Keeper) versionOf(what string) []fileVersion {
	if k.path == "" {
		return nil
	}
	return []fileVersion{{Who: "file", What: what, Hash: k.file.Shares.Hash, Text: k.file.Text()}}
}

// Bind tells the keeper where configurations take force.
func (k *Keeper) Bind(loop Loop) { k.loop = loop }

// Config is the configuration in force.
func (k *Keeper) Config() *config.Config {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

// Status says which configuration is in force, and what is wrong with the file.
func (k *Keeper) Status() api.ConfigStatus {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.textOf != k.now {
		k.text, k.textOf = string(k.now.YAML()), k.now
	}
	st := api.ConfigStatus{Hash: k.now.Shares.Hash, File: k.path, Since: k.since, Text: k.text, Problem: k.bad, Aside: k.aside}
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

// Value is what is in force at a path.
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
		return out, &fairlead.Missing{Msg: err.Error()}
	}
	out.Set = !k.aside && slices.ContainsFunc(k.over, func(e entry) bool { return e.Path == clean })
	return out, nil
}

// Reload puts a new version of the file into force, with the settings over it. If these
// do not fit it, everything stays as it is.
func (k *Keeper) Reload(ctx context.Context, c *config.Config) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.Text() == k.file.Text() && k.next == nil && !k.aside && k.bad == "" {
		return nil // it was put into force as it was written
	}
	now, err := c.With(plain(k.over), true)
	if err != nil {
		k.next = c
		k.problem(fmt.Errorf("the settings that were made while the server runs do not fit the new file; what was in force before stays; give them back with fairlead config unset, or change the file:\n%s", words(err)))
		return errors.Join(err, k.refused(ctx, c.Shares.Hash, err))
	}
	entry := fairlead.AuditEntry{Who: "file", From: k.from(), What: "reload", Subject: "configuration", Old: k.now.Shares.Hash, New: now.Shares.Hash}
	all, change, err := k.adding(fileVersion{Who: "file", What: "reload", Hash: c.Shares.Hash, Text: c.Text()})
	if err != nil {
		return err
	}
	if err := k.force(ctx, now, k.over, []fairlead.AuditEntry{entry}, change); err != nil {
		k.problem(err)
		return errors.Join(err, k.refused(ctx, now.Shares.Hash, err))
	}
	k.versions, k.file, k.next, k.aside, k.bad = all, c, nil, false, ""
	return nil
}

// Broken notes what is wrong with the file as it is now.
func (k *Keeper) Broken(ctx context.Context, err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.problem(errors.New(words(err)))
	return k.refused(ctx, "", err)
}

func (k *Keeper) refused(ctx context.Context, hash string, err error) error {
	return k.store.Audit(ctx, []fairlead.AuditEntry{{
		Who: "file", From: k.from(), What: "reload", Subject: "configuration", Old: k.now.Shares.Hash, New: hash, Refused: true, Note: first(err),
	}}, nil)
}

func (k *Keeper) problem(err error) { k.bad, k.badAt = err.Error(), time.Now().Round(0) }

func (k *Keeper) from() string { return cmp.Or(k.path, "defaults") }

// force puts a configuration into force and makes it durable, with the record of it and
// other settings that are to change with it. On an error the old one is in force.
func (k *Keeper) force(ctx context.Context, c *config.Config, over []entry, record []fairlead.AuditEntry, more map[string]string) error {
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
		return errors.Join(fmt.Errorf("keep the settings: %w", err), k.loop.Configure(context.WithoutCancel(ctx), k.now.Shares))
	}
	k.now, k.over, k.since = c, over, time.Now().Round(0)
	return nil
}

func plain(over []entry) []config.Setting {
	all := make([]config.Setting, len(over))
	for i := range over {
		all[i] = over[i].Setting
	}
	return all
}

// words are the whole of what is wrong, and first is its first line.
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
