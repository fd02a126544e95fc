package settings

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/queue"
)

// Open reads the stored settings, and applies them over the file. If the settings do not fit the file, it
// sets them aside, and the status says so. If there are servers with other names, their configuration
// replaces the file.
func Open(ctx context.Context, store Store, file *config.Config, path, name string) (*Keeper, error) {
	k := &Keeper{store: store, path: place(path), file: file, now: file, since: time.Now().Round(0), reader: &reader{}}
	kept, err := store.Settings(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	if err := redact(ctx, store, kept); err != nil {
		return nil, fmt.Errorf("take passwords out of the record: %w", err)
	}
	if follows, err := others(ctx, store, name); err != nil {
		return nil, fmt.Errorf("ask for other servers: %w", err)
	} else if follows {
		return k, k.follow(ctx, kept)
	}
	if k.over, err = loadSettings(kept); err != nil {
		return nil, err
	}
	var entries []queue.AuditEntry
	if now, err := file.With(k.over.plain(), true); err == nil {
		k.now = now
	} else {
		k.aside = true
		k.problem(fmt.Errorf("the settings that were made while the server ran do not fit the file, and have no effect; remove these settings with fairlead config unset, or change the file:\n%s", words(err)))
		entries = append(entries, queue.AuditEntry{Who: "fairlead", From: k.path.from(), What: "settings aside",
			Refused: true, Note: first(err)})
	}
	if last := kept[version]; last != k.now.Shares.Hash {
		entries = append(entries, queue.AuditEntry{Who: "fairlead", From: k.path.from(), What: "start",
			Subject: "configuration", Old: last, New: k.now.Shares.Hash})
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
