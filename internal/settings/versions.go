package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// Each version of the file has its own key, so that storing another version writes only that version.
const fileSetting = "config/file/"

// Limits of the number of versions and of their text, because the file of a large site may be long.
const (
	keptVersions = 20
	keptBytes    = 4 << 20
)

// fileVersion is a version of the file that became current, or a text of the file that never did.
type fileVersion struct {
	Number int       `json:"number"` // from 1, never used again
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	What   string    `json:"what"`
	Hash   string    `json:"hash,omitempty"` // of the file alone; "" if it cannot be read
	Text   string    `json:"text"`
}

// unsaved marks a version that was never current.
const unsaved = "unsaved"

// versions are the kept versions, oldest first.
type versions []fileVersion

func loadVersions(settings map[string]string) (all versions, err error) {
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if !strings.HasPrefix(key, fileSetting) {
			continue
		}
		var v fileVersion
		if err := json.Unmarshal([]byte(settings[key]), &v); err != nil {
			return nil, fmt.Errorf("the stored version of the configuration under %s cannot be read: %w", key, err)
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b fileVersion) int { return cmp.Compare(a.Number, b.Number) })
	return all, nil
}

// adding returns the versions with others added, and without versions that are too old to keep. The
// second result holds the settings to change for that. The newest version that was current is always
// kept.
func (vs versions) adding(more ...fileVersion) (all versions, change map[string]string, err error) {
	all, change = slices.Clone(vs), map[string]string{}
	for _, v := range more {
		if n := len(all); n > 0 && all[n-1].Text == v.Text && all[n-1].What != unsaved && v.What != unsaved {
			continue // it is already current
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
	if i := all.newest(); i >= 0 && len(more) > 0 && more[len(more)-1].What != unsaved {
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

// versionKey returns a key that sorts like the number.
func versionKey(v fileVersion) string { return fmt.Sprintf("%s%08d", fileSetting, v.Number) }

// numbered returns the index of the version with a number.
func (vs versions) numbered(number int) (i int, err error) {
	i, found := slices.BinarySearchFunc(vs, number, func(v fileVersion, n int) int { return cmp.Compare(v.Number, n) })
	switch {
	case found:
		return i, nil
	case len(vs) == 0:
		return 0, queue.Missingf("no version of the file is kept: the server runs without one")
	}
	return 0, queue.Missingf("version %d of the file is not kept; kept versions: %d to %d, see fairlead config history --versions",
		number, vs[0].Number, vs[len(vs)-1].Number)
}

// shown returns the version at an index, without its text; the argument "file" is the current text.
func (vs versions) shown(i int, file string) api.ConfigVersion {
	v := &vs[i]
	return api.ConfigVersion{
		Number: v.Number, At: v.At, Who: v.Who, What: v.What, Hash: v.Hash, InForce: i == vs.inForce(file),
	}
}

// inForce returns the index of the current version, or -1; the argument "file" is its text.
func (vs versions) inForce(file string) int {
	for i := len(vs) - 1; i >= 0; i-- {
		if v := &vs[i]; v.What != unsaved && v.Text == file {
			return i
		}
	}
	return -1
}

// newest returns the index of the version that became current last, or -1.
func (vs versions) newest() int {
	for i := len(vs) - 1; i >= 0; i-- {
		if vs[i].What != unsaved {
			return i
		}
	}
	return -1
}
