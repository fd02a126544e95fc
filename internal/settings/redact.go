package settings

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/fairlead/fairlead/config"
)

// redacted is the key that says that the record holds no passwords: earlier versions of the program
// kept the passwords of the file.
const redacted = "config/redacted"

// redact takes passwords out of the store: out of the versions of the file, and out of the
// record.
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
		if v.Hash != "" { // the one that is kept was made with the password
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

// hashOf is the version of a text; "" if it cannot be read.
func hashOf(text string) string {
	c, err := config.Parse("", []byte(text))
	if err != nil {
		return ""
	}
	return c.Shares.Hash
}
