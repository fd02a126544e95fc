package settings

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

// Versions of the file are kept under keys of their own, so that keeping one more writes
// that one.
const fileSetting = "config/file/"

// How many versions are kept, and how much text: the file of a large site may be long.
const (
	keptVersions = 20
	keptBytes    = 4 << 20
)

// fileVersion is a version of the file that took force, or one that was in its place and never
// did.
type fileVersion struct {
	Number int       `json:"number"` // from 1, never used again
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	What   string    `json:"what"`
	Hash   string    `json:"hash,omitempty"` // of the file alone; "" if it cannot be read
	Text   string    `json:"text"`
}

// unsaved is what became of a version that was never in force.
const unsaved = "unsaved"

func loadVersions(settings map[string]string) (all []fileVersion, err error) {
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if !strings.HasPrefix(key, fileSetting) {
			continue
		}
		var v fileVersion
		if err := json.Unmarshal([]byte(settings[key]), &v); err != nil {
			return nil, fmt.Errorf("the version of the configuration that is kept under %s cannot be read: %w", key, err)
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b fileVersion) int { return cmp.Compare(a.Number, b.Number) })
	return all, nil
}

// adding are the versions with others added, as far as they are kept, and the settings to
// be changed for it. The newest that was in force stays.
func (k *Keeper) adding(more ...fileVersion) (all []fileVersion, change map[string]string, err error) {
	all, change = slices.Clone(k.versions), map[string]string{}
	for _, v := range more {
		if n := len(all); n > 0 && all[n-1].Text == v.Text && all[n-1].What != unsaved && v.What != unsaved {
			continue // it is in force already
		}
		v.Number = 1
		if n := len(all); n > 0 {
			v.Number = all[n-1].Number + 1
		}
		v.At = time.Now().Round(0)
		text, err := json.Marshal(v)
		if err != nil {
			return nil, nil, err
		}
		all, change[versionKey(v)] = append(all, v), string(text)
	}
	if i := newest(all); i >= 0 && len(more) > 0 && more[len(more)-1].What != unsaved {
		change[inForce] = fmt.Sprint(all[i].Number)
	}
	size := 0
	for _, v := range all {
		size += len(v.Text)
	}
	for len(all) > keptVersions || size > keptBytes && len(all) > 2 {
		size -= len(all[0].Text)
		change[versionKey(all[0])] = ""
		all = all[1:]
	}
	return all, change, nil
}

// versionKey sorts as the numbers do.
func versionKey(v fileVersion) string { return fmt.Sprintf("%s%08d", fileSetting, v.Number) }

// Versions returns the versions of the file that are kept, newest first.
func (k *Keeper) Versions() api.ConfigVersions {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := api.ConfigVersions{Version: api.Version, Entries: []api.ConfigVersion{}}
	for i := range k.versions {
		out.Entries = append(out.Entries, k.shown(i))
	}
	slices.Reverse(out.Entries)
	return out
}

func (k *Keeper) shown(i int) api.ConfigVersion {
	v := &k.versions[i]
	return api.ConfigVersion{Number: v.Number, At: v.At, Who: v.Who, What: v.What, Hash: v.Hash, InForce: i == k.inForce()}
}

// inForce is the place of the version in force, or -1.
func (k *Keeper) inForce() int {
	for i := len(k.versions) - 1; i >= 0; i-- {
		if v := &k.versions[i]; v.What != unsaved && v.Text == k.file.Text() {
			return i
		}
	}
	return -1
}

// Version returns one version with its text.
func (k *Keeper) Version(number int) (api.ConfigVersion, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i, err := k.numbered(number)
	if err != nil {
		return api.ConfigVersion{}, err
	}
	v := k.shown(i)
	v.Text = k.versions[i].Text
	return v, nil
}

func (k *Keeper) numbered(number int) (i int, err error) {
	i, found := slices.BinarySearchFunc(k.versions, number, func(v fileVersion, n int) int { return cmp.Compare(v.Number, n) })
	switch {
	case found:
		return i, nil
	case len(k.versions) == 0:
		return 0, &fairlead.Missing{Msg: "no version of the file is kept: the server runs without one"}
	}
	return 0, &fairlead.Missing{Msg: fmt.Sprintf("version %d of the file is not kept; those that are: %d to %d, see fairlead config history --versions",
		number, k.versions[0].Number, k.versions[len(k.versions)-1].Number)}
}

// keep notes versions that took force by themselves: at the start, or as the file changed.
func (k *Keeper) keep(ctx context.Context, more []fileVersion, record []fairlead.AuditEntry, settings map[string]string) error {
	all, change, err := k.adding(more...)
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
