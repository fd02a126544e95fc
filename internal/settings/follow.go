package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
)

// Several servers share a store, and with it the configuration: a server stores the configuration that it
// applies, and the others follow.

// Ours reports whether a setting of the store is part of the configuration.
func Ours(key string) bool { return strings.HasPrefix(key, engine.ConfigSetting) }

// others reports whether there are servers besides the one with this name.
func others(ctx context.Context, store Store, name string) (bool, error) {
	p, ok := store.(queue.Peers)
	if !ok {
		return false, nil
	}
	all, err := p.Servers(ctx)
	return slices.ContainsFunc(all, func(s queue.Server) bool { return s.Name != name }), err
}

// Follow applies the configuration that another server has applied.
func (k *Keeper) Follow(ctx context.Context) error {
	kept, err := k.store.Settings(ctx)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.follow(ctx, kept)
}

func (k *Keeper) follow(ctx context.Context, kept map[string]string) error {
	over, err := loadSettings(kept)
	if err != nil {
		return err
	}
	versions, err := loadVersions(kept)
	if err != nil {
		return err
	}
	file, err := k.shared(kept[inForce], versions)
	if err != nil {
		return fmt.Errorf("the configuration of another server cannot be read; it may be of a newer version: %w", err)
	}
	now, err := file.With(over.plain(), true)
	if err != nil {
		return err
	}
	if k.loop != nil && now.Shares.Hash != k.now.Shares.Hash {
		if err := k.loop.Configure(ctx, now.Shares); err != nil {
			return err
		}
	}
	if now.Shares.Hash != k.now.Shares.Hash {
		k.since = time.Now().Round(0)
	}
	k.versions, k.file, k.over, k.now, k.next, k.aside, k.bad = versions, file, over, now, nil, false, ""
	if k.path != "" && k.path.onDisk() != file.Text() {
		k.problem(errors.New("the file differs from the current configuration, which another server has applied: to keep the current one, copy it into the file; to apply your version at all servers, save the file with a change"))
	}
	return nil
}

// shared returns the file that is current at all servers.
func (k *Keeper) shared(number string, versions versions) (*config.Config, error) {
	if number == "0" {
		return config.Default(), nil
	}
	for _, v := range versions {
		if fmt.Sprint(v.Number) == number && v.Text != k.file.Text() {
			return config.Parse(k.path.from(), []byte(v.Text))
		}
	}
	return k.file, nil
}
