package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/settings"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

const (
	two   = "# two pools\npools: {a: {weight: 2}, b: {weight: 3}}\n"
	three = "pools: {a: {weight: 2}, b: {weight: 4}, c: {weight: 1}}\n"
	four  = "pools: {a: {weight: 4}}\n"
)

// site is a keeper of a real file.
type site struct {
	*settings.Keeper
	t     *testing.T
	loop  *loop
	store settings.Store
	path  string
}

func newSite(t *testing.T, text string) *site {
	s := &site{t: t, store: memory.New("cpu"), path: filepath.Join(t.TempDir(), "fairlead.yaml")}
	s.write(text)
	s.open()
	return s
}

// open starts a server, for the first time or after a restart.
func (s *site) open() {
	s.t.Helper()
	c, err := config.Load(s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	k, err := settings.Open(s.t.Context(), s.store, c, s.path, "")
	if err != nil {
		s.t.Fatal(err)
	}
	s.Keeper, s.loop = k, &loop{shares: k.Config().Shares}
	k.Bind(s.loop, s.loop)
}

func (s *site) write(text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path, []byte(text), 0o640); err != nil {
		s.t.Fatal(err)
	}
}

// edit writes the file by hand, and lets the server read it.
func (s *site) edit(text string) error {
	s.write(text)
	c, err := config.Load(s.path)
	if err != nil {
		return s.Broken(s.t.Context(), err)
	}
	return s.Reload(s.t.Context(), c)
}

func (s *site) plan(text string) *api.ConfigPlan {
	s.t.Helper()
	p, err := s.Plan(s.t.Context(), api.ConfigPlanRequest{ConfigFile: api.ConfigFile{Name: "next.yaml", Text: text}})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// has checks the text of the file and the current configuration.
func (s *site) has(text, weightOfA string) {
	s.t.Helper()
	now, err := os.ReadFile(s.path)
	if err != nil || string(now) != text {
		s.t.Errorf("the file holds %q (%v), want %q", now, err, text)
	}
	if v, err := s.Value("pools.a.weight"); err != nil || v.Value != weightOfA {
		s.t.Errorf("pools.a.weight is %q (%v), want %s", v.Value, err, weightOfA)
	}
	if s.loop.shares.Hash != s.Config().Shares.Hash {
		s.t.Error("the loop has another configuration than the keeper")
	}
}

func (s *site) versions() string {
	var all []string
	for _, v := range s.Versions().Entries {
		text := fmt.Sprint(v.Number, " ", v.What, " ", v.Who)
		if v.InForce {
			text += "!"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// TestPlanAndApply checks that a plan shows its changes, that it can be applied by its name, and that the
// same text gives the same plan.
func TestPlanAndApply(t *testing.T) {
	s := newSite(t, two)
	p := s.plan(three)
	if got, want := fmt.Sprint(p.Changes), "[{pools.b.weight 3 4 false} {pools.c  {weight: 1} false}]"; got != want {
		t.Errorf("changes %s, want %s", got, want)
	}
	if p.ID == "" || p.Starts != 3 || fmt.Sprint(p.Before, p.After) != "[c1] [c0]" {
		t.Errorf("plan %+v", p)
	}
	if again := s.plan(three); again.ID != p.ID {
		t.Errorf("the same plan has the names %s and %s", p.ID, again.ID)
	}
	out, err := s.Apply(t.Context(), ann, api.ApplyRequest{Plan: p.ID, Reason: "more for b"})
	if err != nil {
		t.Fatal(err)
	}
	if out.Number != 2 || out.Old != p.Old || out.New != p.New || len(out.Changes) != 2 {
		t.Errorf("applied %+v", out)
	}
	s.has(three, "2")
	if info, err := os.Stat(s.path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file has the mode %v (%v)", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(s.path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	// The server notices that the file changed, but nothing is new.
	if err := s.edit(three); err != nil {
		t.Fatal(err)
	}
	h, err := s.History(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var record []string
	for _, e := range h.Entries {
		record = append(record, e.What+" "+e.Subject+" by "+e.Who+" "+e.Note)
	}
	note := " by ann plan " + p.ID + ": more for b"
	want := []string{"apply configuration" + note, "apply pools.c" + note, "apply pools.b.weight" + note,
		"start configuration by fairlead "}
	if fmt.Sprint(record) != fmt.Sprint(want) {
		t.Errorf("record\n%v\nwant\n%v", record, want)
	}
	if got := s.versions(); got != "2 apply ann!, 1 start file" {
		t.Errorf("versions: %s", got)
	}
}

// TestPlanIsRefused checks that a plan is refused if its basis has changed.
func TestPlanIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *site)
		words  string
	}{
		"settings": {func(s *site) { set(s.t, s.Keeper, "pools.a.weight=7") }, "settings were changed"},
		"reload":   {func(s *site) { s.edit(four) }, "another configuration was applied"},
		"edit":     {func(s *site) { s.write(four) }, "the server's file was changed"},
		"broken":   {func(s *site) { s.edit("pools: [") }, "the server's file was changed"},
		"another": {func(s *site) {
			if _, err := s.Apply(s.t.Context(), ann, api.ApplyRequest{Plan: s.plan(four).ID}); err != nil {
				s.t.Fatal(err)
			}
		}, "another configuration was applied"},
		"restart": {func(s *site) { s.open() }, "there is no plan"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, two)
			p := s.plan(three)
			c.change(s)
			before, _ := os.ReadFile(s.path)
			_, err := s.Apply(t.Context(), ann, api.ApplyRequest{Plan: p.ID})
			if err == nil || !strings.Contains(err.Error(), c.words) || api.Exit(err) != api.ExitRefused {
				t.Errorf("got %v", err)
			}
			if after, _ := os.ReadFile(s.path); string(after) != string(before) {
				t.Errorf("the file was changed to %q", after)
			}
		})
	}
}

// TestReloadOfWhatWasReplaced checks that a text that was read from the file before a rollback, but would be applied
// after it, is not applied.
func TestReloadOfWhatWasReplaced(t *testing.T) {
	s := newSite(t, two)
	if _, err := s.Apply(t.Context(), ann, api.ApplyRequest{Plan: s.plan(three).ID}); err != nil {
		t.Fatal(err)
	}
	read, err := config.Load(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rollback(t.Context(), ann, api.RollbackRequest{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(t.Context(), read); err != nil {
		t.Error(err)
	}
	s.has(two, "2")
	if got := s.versions(); got != "3 rollback ann!, 2 apply ann, 1 start file" {
		t.Errorf("versions: %s", got)
	}
}

// TestRollback rolls back to the previous version, forward again, to a version by its number, and after a restart.
func TestRollback(t *testing.T) {
	s := newSite(t, two)
	if _, err := s.Rollback(t.Context(), ann, api.RollbackRequest{}); !errors.Is(err, queue.ErrState) {
		t.Errorf("without an earlier version: %v", err)
	}
	back := func(to int) {
		t.Helper()
		if _, err := s.Rollback(t.Context(), ann, api.RollbackRequest{To: to}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Apply(t.Context(), ann, api.ApplyRequest{Plan: s.plan(three).ID}); err != nil {
		t.Fatal(err)
	}
	s.open()
	back(0)
	s.has(two, "2")
	back(0)
	s.has(three, "2")
	if err := s.edit(four); err != nil {
		t.Fatal(err)
	}
	s.open()
	back(1)
	s.has(two, "2")
	if got := s.versions(); got != "6 rollback ann!, 5 reload file, 4 rollback ann, 3 rollback ann, 2 apply ann, 1 start file" {
		t.Errorf("versions: %s", got)
	}
	if v, err := s.Version(5); err != nil || v.Text != four {
		t.Errorf("version 5: %+v, %v", v, err)
	}
	if _, err := s.Rollback(t.Context(), ann, api.RollbackRequest{To: 99}); !errors.Is(err, queue.ErrNotFound) ||
		!strings.Contains(err.Error(), "1 to 6") {
		t.Errorf("to a version that never was: %v", err)
	}
}

// TestEditsAreNotLost checks that a rollback first undoes edits of the file that are not applied, and keeps them as a
// version.
func TestEditsAreNotLost(t *testing.T) {
	s := newSite(t, two)
	if err := s.edit(three); err != nil {
		t.Fatal(err)
	}
	if err := s.edit("pools: {a: {weight: many}}\n"); err != nil {
		t.Fatal(err)
	}
	if p := s.plan(three); !p.Unsaved || p.ID == "" {
		t.Errorf("plan with a broken file: %+v", p)
	}
	if _, err := s.Rollback(t.Context(), ann, api.RollbackRequest{}); err != nil {
		t.Fatal(err)
	}
	s.has(three, "2")
	if st := s.Status(); st.Problem != "" {
		t.Errorf("there is still a problem: %s", st.Problem)
	}
	if got := s.versions(); got != "4 rollback ann!, 3 unsaved file, 2 reload file, 1 start file" {
		t.Errorf("versions: %s", got)
	}
	if v, err := s.Version(3); err != nil || !strings.Contains(v.Text, "many") {
		t.Errorf("the edit: %+v, %v", v, err)
	}
	if _, err := s.Rollback(t.Context(), ann, api.RollbackRequest{To: 3}); !errors.Is(err, queue.ErrInvalid) ||
		!strings.Contains(err.Error(), "weight must be a number") {
		t.Errorf("back to a broken file: %v", err)
	}
}

// TestSettingsStayOverPlans checks that settings override a new file, and that a plan names the changes that
// they hide.
func TestSettingsStayOverPlans(t *testing.T) {
	s := newSite(t, two)
	if _, err := set(t, s.Keeper, "pools.b.weight=9"); err != nil {
		t.Fatal(err)
	}
	p := s.plan(three)
	if len(p.Changes) != 1 || len(p.Covered) != 1 || p.Covered[0].Path != "pools.b.weight" {
		t.Errorf("changes %v, covered %v", p.Changes, p.Covered)
	}
	if _, err := s.Apply(t.Context(), ann, api.ApplyRequest{Plan: p.ID}); err != nil {
		t.Fatal(err)
	}
	if v, _ := s.Value("pools.b.weight"); v.Value != "9" {
		t.Errorf("the setting is %s", v.Value)
	}
	if _, err := s.Plan(t.Context(), api.ConfigPlanRequest{ConfigFile: api.ConfigFile{Text: four}}); !errors.Is(err,
		queue.ErrInvalid) && err != nil {
		t.Errorf("a file without the pool: %v", err)
	}
}

// TestNothingIsHalfDone checks that if the loop or the disk refuses a change, the file and the current configuration
// stay.
func TestNothingIsHalfDone(t *testing.T) {
	s := newSite(t, two)
	p := s.plan(three)
	s.loop.refuse = errors.New("no")
	if _, err := s.Apply(t.Context(), ann, api.ApplyRequest{Plan: p.ID}); err == nil {
		t.Fatal("applied although the loop refuses")
	}
	s.loop.refuse = nil
	s.has(two, "2")
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	p = s.plan(three)
	if _, err := s.Apply(t.Context(), ann, api.ApplyRequest{Plan: p.ID}); !errors.Is(err, queue.ErrState) ||
		!strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("without the file: %v", err)
	}
	if got := s.versions(); got != "1 start file!" {
		t.Errorf("versions: %s", got)
	}
}

// TestWithoutFile checks that a server without a file shows plans, but cannot apply them.
func TestWithoutFile(t *testing.T) {
	k, err := settings.Open(t.Context(), memory.New("cpu"), config.Default(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	l := &loop{shares: k.Config().Shares}
	k.Bind(l, l)
	p, err := k.Plan(t.Context(), api.ConfigPlanRequest{ConfigFile: api.ConfigFile{Text: two}})
	if err != nil || p.ID != "" || len(p.Changes) == 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := k.Rollback(t.Context(), ann, api.RollbackRequest{}); !errors.Is(err, queue.ErrState) {
		t.Errorf("rollback: %v", err)
	}
	if v := k.Versions(); len(v.Entries) != 0 {
		t.Errorf("versions: %v", v)
	}
}

// TestOldVersionsGo checks that the number of kept versions is limited, and that numbers are never used
// again.
func TestOldVersionsGo(t *testing.T) {
	s := newSite(t, two)
	for i := range 30 {
		if err := s.edit(fmt.Sprintf("pools: {a: {weight: %d}}\n", i+10)); err != nil {
			t.Fatal(err)
		}
	}
	s.open()
	all := s.Versions().Entries
	if len(all) != 20 || all[0].Number != 31 || !all[0].InForce || all[19].Number != 12 {
		t.Errorf("%d versions, from %+v to %+v", len(all), all[0], all[len(all)-1])
	}
}
