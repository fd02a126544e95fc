package settings

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/fairlead/fairlead/config"
)

// redacted is the key of the mark that the record holds no passwords: earlier versions of the program stored
// the passwords of the file.
const redacted = "config/redacted"

// redact removes passwords from the store: from the versions of the file, and from the record.
func redact(ctx context.Context, store Store, kept map[string]string) error {
	change := map[string]string{}
	versions, err := loadVersions(kept)
	if err != nil {
		return err
	}
	for _, v := range versions {
		hidden := config.HideFile(v.Text)
		if hidden == v.Text {
			continue
		}
		v.Text = hidden
		if v.Hash != "" { // the stored hash includes the password
			v.Hash = hashOf(hidden)
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		change[versionKey(v)] = string(text)
	}
	if kept[redacted] != "" && len(change) == 0 {
		return nil
	}
	change[redacted] = "1"
	maps.Copy(kept, change)
	return store.Redact(ctx, config.Hide, change)
}

// hashOf returns the hash of a text, or "" if it cannot be read.
func hashOf(text string) string {
	c, err := config.Parse("", []byte(text))
	if err != nil {
		return ""
	}
	return c.Shares.Hash
}
