package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/queue"
)

// keptPlans is how many plans the server keeps. A few suffice, because a new plan is quickly made.
const keptPlans = 32

// basisNow returns the present basis for a plan.
func (k *Keeper) basisNow() (basis, error) {
	text, err := json.Marshal(k.over.plain())
	if err != nil {
		return basis{}, err
	}
	return basis{k.now.Shares.Hash, string(text), k.path.onDisk()}, nil
}

// read reads a configuration, and returns it without and with the settings over it.
func (k *Keeper) read(f api.ConfigFile) (file, next *config.Config, err error) {
	name := f.Name
	if name == "" {
		name = k.path.from()
	}
	if file, err = k.reader.parse(name, f.Text); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", words(err), queue.ErrInvalid)
	}
	if len(k.over) == 0 {
		return file, file, nil
	}
	if next, err = file.With(k.over.plain(), true); err != nil {
		return nil, nil, fmt.Errorf("the settings that were made while the server runs do not fit %s; remove these settings with fairlead config unset, or change the file:\n%s: %w", name, words(err), queue.ErrInvalid)
	}
	return file, next, nil
}

// Diff returns the differences between the current configuration and another one.
func (k *Keeper) Diff(f api.ConfigFile) (*api.ConfigDiff, error) {
	was := k.standing()
	file, next, err := was.read(f)
	if err != nil {
		return nil, err
	}
	d := was.diff(file, next)
	d.Beyond = k.beyond(next)
	return &d, nil
}

// standing returns a copy of the current configuration, for use without the lock. Thousands of pools take
// long to read and to compare, and requests for the configuration must not wait for that.
func (k *Keeper) standing() *Keeper {
	k.mu.Lock()
	defer k.mu.Unlock()
	return &Keeper{path: k.path, file: k.file, over: slices.Clone(k.over), now: k.now, reader: k.reader}
}

// diff returns the differences that take effect, and the differences that settings hide.
func (k *Keeper) diff(file, next *config.Config) api.ConfigDiff {
	out := api.ConfigDiff{Version: api.Version, Old: k.now.Shares.Hash, New: next.Shares.Hash,
		Changes: []api.ConfigDifference{}, Warnings: next.Problems.Text()}
	there := map[string]bool{}
	for _, d := range config.Diff(k.now, next) {
		out.Changes = append(out.Changes, api.ConfigDifference(d))
		there[d.Path] = true
	}
	if len(k.over) == 0 {
		return out
	}
	for _, d := range config.Diff(k.file, file) {
		if !there[d.Path] {
			out.Covered = append(out.Covered, api.ConfigDifference(d))
		}
	}
	return out
}

// Plan returns the changes that a configuration would make, and keeps the plan, so that it can be applied.
func (k *Keeper) Plan(ctx context.Context, r api.ConfigPlanRequest) (*api.ConfigPlan, error) {
	out, old, next, err := k.look(ctx, r.ConfigFile, !r.Look)
	if err != nil || r.ReplaySeconds <= 0 || len(out.Changes) == 0 {
		return out, err
	}
	out.Replay, err = replay(ctx, k.loop, old, next, r.ReplaySeconds)
	return out, err
}

// look makes a plan from the present state, and keeps it if the flag "keep" is set. If another configuration is applied
// meanwhile, Apply will refuse the plan.
func (k *Keeper) look(ctx context.Context, f api.ConfigFile, keep bool) (out *api.ConfigPlan, old, next *config.Config,
	err error) {
	was := k.standing()
	from, err := was.basisNow()
	if err != nil {
		return nil, nil, nil, err
	}
	disk := was.path.whole()
	if f.Text, err = restored(f.Text, disk); err != nil {
		return nil, nil, nil, err
	}
	file, next, err := was.read(f)
	if err != nil {
		return nil, nil, nil, err
	}
	seen, err := k.forecast.Forecast(ctx, next.Shares)
	if err != nil {
		if !errors.Is(err, queue.ErrInvalid) {
			err = fmt.Errorf("%w: %w", err, queue.ErrInvalid)
		}
		return nil, nil, nil, fmt.Errorf("this configuration cannot be applied: %w", err)
	}
	out = &api.ConfigPlan{ConfigDiff: was.diff(file, next), At: seen.At, Before: orNone(seen.Before),
		After: orNone(seen.After), Unranked: seen.Unranked}
	out.Beyond = k.beyond(next)
	out.Unsaved = was.path != "" && from.file != was.file.Text()
	for i := range seen.Pools {
		out.Pools = append(out.Pools, poolPlan(&seen.Pools[i]))
	}
	out.Starts, out.Stops = seen.Pools[0].Starts, seen.Pools[0].Stops
	password := disk != file.WholeText() && config.Hide(disk) == file.Text()
	if password {
		out.Warnings += "a password differs from that in the server's file, which is not shown\n"
	}
	if keep && was.path != "" && (file.Text() != was.file.Text() || out.Unsaved || password) {
		out.ID = from.id(file.Text())
		k.keepPlan(plan{out.ID, file.WholeText(), from})
	}
	return out, was.now, next, nil
}

// restored returns a text with the passwords that were hidden in it, taken from the file.
func restored(text, file string) (string, error) {
	whole, err := config.Restore(text, file)
	if err != nil {
		return "", fmt.Errorf("nothing was changed: %w: %w", err, queue.ErrInvalid)
	}
	return whole, nil
}

// orNone turns a nil list into an empty one, which differs in JSON.
func orNone(list []string) []string { return append([]string{}, list...) }

func poolPlan(p *forecast.PoolForecast) api.PoolPlan {
	return api.PoolPlan{
		Path: p.Path, Depth: p.Depth, New: p.After.Named && !p.Before.Named && p.Before.Weight == 0,
		Gone:         p.Before.Named && !p.After.Named,
		WeightBefore: p.Before.Weight, WeightAfter: p.After.Weight, ShareBefore: p.Before.Share, ShareAfter: p.After.Share,
		FairNowBefore: p.Before.FairNow, FairNowAfter: p.After.FairNow, Running: p.After.Running, Starts: p.Starts, Stops: p.Stops,
	}
}

func (k *Keeper) keepPlan(p plan) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.plans = slices.DeleteFunc(k.plans, func(old plan) bool { return old.id == p.id })
	if k.plans = append(k.plans, p); len(k.plans) > keptPlans {
		k.plans = slices.Delete(k.plans, 0, 1)
	}
}

// Apply applies a plan, if its basis has not changed since.
func (k *Keeper) Apply(ctx context.Context, by Actor, r api.ApplyRequest) (*api.ApplyResponse, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, err := k.stillGood(r.Plan)
	if err != nil {
		return nil, err
	}
	note := "plan " + p.id
	if r.Reason != "" {
		note += ": " + r.Reason
	}
	return k.replace(ctx, by, p.text, "apply", note)
}

// stillGood returns the plan with this name, if its basis has not changed since.
func (k *Keeper) stillGood(id string) (p plan, err error) {
	i := slices.IndexFunc(k.plans, func(p plan) bool { return p.id == id })
	if i < 0 {
		return p, queue.Missingf("there is no plan %q: the server keeps the last %d plans until it stops; make the plan again with fairlead config plan FILE", id, keptPlans)
	}
	p = k.plans[i]
	now, err := k.basisNow()
	if err != nil {
		return p, err
	}
	if what := p.basis.changed(now); what != "" {
		return p, fmt.Errorf(
			"plan %s is out of date: %s since then, so nothing was changed; make a new plan with fairlead config plan FILE: %w",
			p.id, what, queue.ErrState)
	}
	return p, nil
}

// Rollback applies an earlier version of the file: the named version, or else the version before the current
// one. If the text of the file is not current, Rollback without a number restores the current version. If
// the request names a plan of that version, the basis of the plan must not have changed.
func (k *Keeper) Rollback(ctx context.Context, by Actor, r api.RollbackRequest) (*api.ApplyResponse, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i, err := k.target(r.To)
	if err != nil {
		return nil, err
	}
	if r.Plan != "" {
		p, err := k.stillGood(r.Plan)
		if err != nil {
			return nil, err
		}
		if config.Hide(p.text) != k.versions[i].Text {
			return nil, fmt.Errorf("plan %s was not made for version %d: %w", p.id, k.versions[i].Number, queue.ErrInvalid)
		}
	}
	if r.DryRun {
		return k.rollbackTo(i)
	}
	note := fmt.Sprintf("to version %d", k.versions[i].Number)
	if r.Reason != "" {
		note += ": " + r.Reason
	}
	return k.replace(ctx, by, k.versions[i].Text, "rollback", note)
}

// rollbackTo reports the changes that a rollback to a version would make.
func (k *Keeper) rollbackTo(i int) (*api.ApplyResponse, error) {
	text, err := restored(k.versions[i].Text, k.path.whole())
	if err != nil {
		return nil, err
	}
	file, next, err := k.read(api.ConfigFile{Name: string(k.path), Text: text})
	if err != nil {
		return nil, err
	}
	out := &api.ApplyResponse{ConfigDiff: k.diff(file, next), File: string(k.path), Number: k.versions[i].Number}
	out.Since = k.since
	return out, nil
}

// target returns the index of the version to go back to.
func (k *Keeper) target(number int) (int, error) {
	if number > 0 {
		return k.versions.numbered(number)
	}
	now := k.versions.inForce(k.file.Text())
	if now >= 0 && k.path.onDisk() != k.file.Text() {
		return now, nil
	}
	for i := now - 1; i >= 0; i-- {
		if v := &k.versions[i]; v.What != unsaved && v.Text != k.file.Text() {
			return i, nil
		}
	}
	return 0, fmt.Errorf("no earlier version of the file is kept: %w", queue.ErrState)
}

// replace writes the file and applies it, or does neither.
func (k *Keeper) replace(ctx context.Context, by Actor, text, what, note string) (*api.ApplyResponse, error) {
	if k.path == "" {
		return nil, fmt.Errorf("the server runs without a file to write this to: start it with fairlead serve --config FILE, or change single values with fairlead config set: %w", queue.ErrState)
	}
	was := k.path.whole()
	text, err := restored(text, was)
	if err != nil {
		return nil, err
	}
	file, next, err := k.read(api.ConfigFile{Name: string(k.path), Text: text})
	if err != nil {
		return nil, err
	}
	var more []fileVersion
	if config.Hide(was) != k.file.Text() && was != "" {
		more = append(more, fileVersion{Who: "file", What: unsaved, Text: config.HideFile(was)})
	}
	more = append(more, fileVersion{Who: by.Who, What: what, Hash: file.Shares.Hash, Text: file.Text()})
	all, change, err := k.versions.adding(more...)
	if err != nil {
		return nil, err
	}
	out := &api.ApplyResponse{ConfigDiff: k.diff(file, next), File: string(k.path), Number: all[len(all)-1].Number}
	out.Beyond = k.beyond(next)
	entry := queue.AuditEntry{Who: by.Who, From: by.From, What: what, Subject: "configuration", Old: out.Old, New: out.New,
		Note: note}
	if err := writeFile(string(k.path), text); err != nil {
		return nil, fmt.Errorf(
			"nothing was changed: the server could not write its file: %w; write the new file there yourself; the server "+
				"reads it when it changes: %w", err, queue.ErrState)
	}
	if err := k.force(ctx, next, k.over, append(differences(entry, out.Changes), entry), change); err != nil {
		if back := writeFile(string(k.path), was); back != nil {
			return nil, fmt.Errorf("%w; and the file could not be restored: %w", err, back)
		}
		return nil, err
	}
	k.versions, k.file, k.next, k.aside, k.bad = all, file, nil, false, ""
	out.Since = k.since
	return out, nil
}

// maxRecorded is how many places of one change the record names.
const maxRecorded = 200

// differences returns the entries of the record about the places that changed.
func differences(of queue.AuditEntry, changes []api.ConfigDifference) (record []queue.AuditEntry) {
	for i, c := range changes {
		e := of
		e.Subject, e.Old, e.New = c.Path, c.Old, c.New
		if i == maxRecorded {
			e.Subject, e.Old, e.New = fmt.Sprintf("%d more places", len(changes)-i), "", ""
		}
		if record = append(record, e); i == maxRecorded {
			break
		}
	}
	return record
}
