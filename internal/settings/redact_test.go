package settings_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

const (
	canary   = "c4n4ry"
	withKey  = "pools: {a: {weight: 2}, b: {weight: 3}}\nserver:\n  database: postgres://fair:c4n4ry@db/jobs\n"
	shownKey = "pools: {a: {weight: 2}, b: {weight: 3}}\nserver:\n  database: postgres://fair:********@db/jobs\n"
)

// keepsNoPassword checks that the keeper shows no password, and that its store holds none.
func (s *site) keepsNoPassword() {
	s.t.Helper()
	record, err := s.History(s.t.Context(), 0)
	if err != nil {
		s.t.Fatal(err)
	}
	value, err := s.Value("server.database")
	if err != nil {
		s.t.Fatal(err)
	}
	all := []any{s.Status(), record, value, s.Versions()}
	for _, v := range s.Versions().Entries {
		version, err := s.Version(v.Number)
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, version)
	}
	kept, err := s.store.Settings(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, x := range append(all, kept) {
		text, err := json.Marshal(x)
		if err != nil || strings.Contains(string(text), canary) {
			s.t.Errorf("the password is in %T: %s, %v", x, text, err)
		}
	}
}

// TestPasswordsStayInTheFile checks that the password stays in the file, and is shown and stored nowhere
// else, whatever is done to the configuration.
func TestPasswordsStayInTheFile(t *testing.T) {
	s := newSite(t, withKey)
	s.keepsNoPassword()
	shown, err := s.Version(1)
	if err != nil || shown.Text != shownKey || s.Versions().Entries[0].InForce != true {
		t.Fatalf("version %+v, %v", shown, err)
	}
	edited := strings.Replace(strings.Replace(shown.Text, "weight: 3", "weight: 4", 1), "@db/jobs", "@other/jobs", 1)
	p := s.plan(edited)
	if text := fmt.Sprint(p.Changes); strings.Contains(text, canary) || len(p.Changes) != 2 || p.Unsaved {
		t.Errorf("plan %s, %+v", text, p)
	}
	if _, err := s.Apply(t.Context(), ann, api.ApplyRequest{Plan: p.ID}); err != nil {
		t.Fatal(err)
	}
	s.has(strings.Replace(edited, "********", canary, 1), "2")
	s.keepsNoPassword()
	s.write("pools: [\nserver:\n  database: postgres://fair:c4n4ry@db/jobs\n")
	if p := s.plan("pools: {a: {weight: 9}}\n"); !p.Unsaved {
		t.Error("the broken file is not missed")
	} else if _, err := s.Apply(t.Context(), ann, api.ApplyRequest{Plan: p.ID}); err != nil {
		t.Fatal(err)
	}
	s.keepsNoPassword()
	s.write(withKey)
	if _, err := s.Rollback(t.Context(), ann, api.RollbackRequest{To: 1}); err != nil {
		t.Fatal(err)
	}
	s.has(withKey, "2")
	if err := s.edit(withKey + "  lese: 1\n"); err != nil {
		t.Fatal(err)
	}
	s.keepsNoPassword()
	if info, err := os.Stat(s.path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

// TestNewPassword checks that a new password is written to the file, and that an unknown one is an error.
func TestNewPassword(t *testing.T) {
	s := newSite(t, withKey)
	p := s.plan(strings.Replace(withKey, canary, "n3w", 1))
	if p.ID == "" || !strings.Contains(p.Warnings, "a password differs") {
		t.Fatalf("plan %+v", p)
	}
	if _, err := s.Apply(t.Context(), ann, api.ApplyRequest{Plan: p.ID}); err != nil {
		t.Fatal(err)
	}
	s.has(strings.Replace(withKey, canary, "n3w", 1), "2")
	if s.edit(two) != nil {
		t.Fatal("edit")
	}
	_, err := s.Rollback(t.Context(), ann, api.RollbackRequest{To: 1})
	if err == nil || !strings.Contains(err.Error(), "write the password itself here") {
		t.Errorf("%v", err)
	}
	s.has(two, "2")
}

// TestOldPasswordsAreTakenOut checks that passwords are removed from data that an earlier version of the
// program stored.
func TestOldPasswordsAreTakenOut(t *testing.T) {
	store := memory.New("cpu")
	old, err := json.Marshal(map[string]any{"number": 1, "who": "file", "what": "start", "hash": "12345678",
		"text": withKey})
	if err != nil {
		t.Fatal(err)
	}
	entry := queue.AuditEntry{Who: "ann", What: "apply", Subject: "server.database", Old: "fairlead.db",
		New: `"postgres://fair:c4n4ry@db/jobs"`}
	if err := store.Audit(t.Context(), []queue.AuditEntry{entry},
		map[string]string{"config/file/00000001": string(old)}); err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, store: store, path: t.TempDir() + "/fairlead.yaml"}
	s.write(withKey)
	s.open()
	s.keepsNoPassword()
	if v := s.Versions().Entries; len(v) != 1 || !v[0].InForce || v[0].Hash != s.Status().Hash {
		t.Errorf("versions %+v", v)
	}
}
