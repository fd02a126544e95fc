package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// Actor is the user who changes something, and the channel of the request.
type Actor struct{ Who, From string }

// Set adds settings over the file: all, or none if one is wrong.
func (k *Keeper) Set(ctx context.Context, by Actor, r api.SettingsRequest) (*api.SettingsResponse, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	over, c := slices.Clone(k.over), k.now
	var paths []string
	for i, v := range r.Settings {
		clean, err := config.CleanPath(v.Path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, queue.ErrInvalid)
		}
		s, err := c.Item(config.Setting{Path: clean, Value: strings.TrimSpace(v.Value)})
		if err != nil {
			return nil, wrong(err)
		}
		over = over.with(entry{s, by.Who, time.Now().Round(0)})
		c, err = k.file.With(over.plain(), true) // the next setting may need this one
		if err != nil && i == len(r.Settings)-1 {
			return nil, wrong(err)
		}
		if err != nil { // several settings may only be valid together
			c = k.now
		}
		paths = append(paths, s.Path)
	}
	if !r.New {
		if _, err := k.file.With(over.plain(), false); err != nil && !k.over.made(err) {
			return nil, wrong(err)
		}
	}
	return k.change(ctx, by, "set", r.Reason, over, paths)
}

// Unset removes settings, so that the values of the file apply again.
func (k *Keeper) Unset(ctx context.Context, by Actor, r api.UnsetRequest) (*api.SettingsResponse, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	over := slices.Clone(k.over)
	var paths []string
	if r.All {
		over = nil
		for _, e := range k.over {
			paths = append(paths, e.Path)
		}
	}
	for _, path := range r.Paths {
		clean, err := config.CleanPath(path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, queue.ErrInvalid)
		}
		i := slices.IndexFunc(over, func(e entry) bool { return e.Path == clean })
		if i < 0 {
			msg := fmt.Sprintf("no setting overrides %s; settings that override the file: %s", clean, k.over.names())
			return nil, queue.Missingf("%s", msg)
		}
		over, paths = slices.Delete(over, i, i+1), append(paths, clean)
	}
	return k.change(ctx, by, "unset", r.Reason, over, paths)
}

// change applies other settings over the newest version of the file that they fit.
func (k *Keeper) change(ctx context.Context, by Actor, what, reason string, over overrides,
	paths []string) (*api.SettingsResponse, error) {
	file, aside := k.file, false
	var c *config.Config
	err := errors.New("there is no newer file")
	if k.next != nil {
		if c, err = k.next.With(over.plain(), true); err == nil {
			file = k.next
		}
	}
	if err != nil {
		c, err = file.With(over.plain(), true)
	}
	if err != nil && k.aside && what == "unset" { // a step towards settings that fit
		c, aside, err = file, true, nil
	}
	if err != nil {
		return nil, wrong(err)
	}
	out := &api.SettingsResponse{Version: api.Version, Hash: c.Shares.Hash, Changes: []api.SettingChange{},
		Warnings: c.Problems.Text()}
	var record []queue.AuditEntry
	for _, path := range slices.Compact(paths) {
		x := api.SettingChange{Path: path, WasSet: k.over.has(path), IsSet: over.has(path)}
		x.Old, _ = k.now.Value(path)
		x.New, _ = c.Value(path)
		out.Changes = append(out.Changes, x)
		if x.Old == x.New && x.WasSet == x.IsSet {
			continue
		}
		record = append(record, queue.AuditEntry{Who: by.Who, From: by.From, What: what, Subject: path, Old: x.Old,
			New: x.New, Note: reason})
	}
	versions, more := k.versions, map[string]string(nil)
	if file == k.next {
		if versions, more, err = k.versions.adding(fileVersion{Who: "file", What: "reload", Hash: file.Shares.Hash,
			Text: file.Text()}); err != nil {
			return nil, err
		}
	}
	if err := k.force(ctx, c, over, record, more); err != nil {
		return nil, err
	}
	k.versions = versions
	if k.aside && !aside || file == k.next {
		k.bad = ""
	}
	if file == k.next {
		k.file, k.next = file, nil
	}
	k.aside, out.Since = aside, k.since
	return out, nil
}

// wrong turns an error of the reader into one of the interface.
func wrong(err error) error {
	var problems config.Problems
	if !errors.As(err, &problems) {
		return fmt.Errorf("%w: %w", err, queue.ErrInvalid)
	}
	var lines []string
	for _, p := range problems {
		if !p.Warning {
			lines = append(lines, p.String())
		}
	}
	return fmt.Errorf("nothing was changed: %s: %w", strings.Join(lines, "\n"), queue.ErrInvalid)
}

// History returns the record of changes, newest first.
func (k *Keeper) History(ctx context.Context, limit int) (*api.ConfigHistory, error) {
	entries, err := k.store.Audited(ctx, queue.AuditQuery{Limit: limit})
	out := &api.ConfigHistory{Version: api.Version, Entries: []api.AuditRecord{}}
	for _, e := range entries {
		out.Entries = append(out.Entries, api.AuditRecord{
			ID: e.ID, At: e.At, Who: e.Who, From: e.From, What: e.What, Subject: e.Subject, Old: e.Old, New: e.New, Refused: e.Refused, Note: e.Note,
		})
	}
	return out, err
}
