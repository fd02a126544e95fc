package api

import (
	"time"
)

// ConfigFile is the text of a configuration that is not current.
type ConfigFile struct {
	Name string `json:"name,omitempty" doc:"Name of the file, for messages"`
	Text string `json:"text" maxLength:"1048576"`
}

// ConfigPlanRequest asks for a plan.
type ConfigPlanRequest struct {
	ConfigFile
	ReplaySeconds float64 `json:"replay_seconds,omitempty" minimum:"0" maximum:"2592000" doc:"How much of the past to replay under both configurations; missing: no replay"`
	Look          bool    `json:"look,omitempty" doc:"Preview only: the plan has no name and cannot be applied"`
}

// ConfigDiff lists the differences between the current configuration and another.
type ConfigDiff struct {
	Version int                `json:"version"`
	Old     string             `json:"old" doc:"Version of the current configuration"`
	New     string             `json:"new" doc:"Version of the new configuration, including the settings that override the file"`
	Changes []ConfigDifference `json:"changes"`
	// Covered lists differences between the files that have no effect, because settings override them.
	Covered []ConfigDifference `json:"covered,omitempty" doc:"Differences of the files that settings override"`
	// Warnings are about the new configuration.
	Warnings string `json:"warnings,omitempty"`
	// Beyond lists the amounts that the configuration promises to pools but that the present nodes cannot provide.
	Beyond []string `json:"beyond,omitempty" doc:"Guarantees to pools that exceed the resources of the nodes"`
}

// ConfigDifference is one place of the configuration, before and after.
type ConfigDifference struct {
	Path  string `json:"path" doc:"e.g. pools.physics.weight"`
	Old   string `json:"old,omitempty" doc:"Old value; missing: there was none"`
	New   string `json:"new,omitempty" doc:"New value; missing: there is none"`
	Later bool   `json:"later,omitempty" doc:"The change takes effect when the server restarts"`
}

// ConfigPlan says what a configuration would change if it were applied now.
type ConfigPlan struct {
	ConfigDiff
	ID     string     `json:"plan,omitempty" doc:"Name of the plan, for apply; missing: the file is the same, or the server has no file"`
	At     time.Time  `json:"at"`
	Pools  []PoolPlan `json:"pools"`
	Before []string   `json:"order_before" doc:"Pools in the order of their next starts, the first few"`
	After  []string   `json:"order_after"`
	// Unranked says that the order is unknown until the configuration is current.
	Unranked bool        `json:"order_unknown,omitempty"`
	Starts   int         `json:"starts" doc:"Tasks that would start at once"`
	Stops    int         `json:"stops" doc:"Tasks that would be stopped at once"`
	Replay   *PlanReplay `json:"replay,omitempty" doc:"Missing: no replay was requested, or nothing ran"`
	// Unsaved says that the server's file differs from the current configuration.
	Unsaved bool `json:"unsaved,omitempty" doc:"The server's file has changes that were not applied; apply replaces them and keeps them as a version"`
}

// PoolPlan is a pool before and after.
type PoolPlan struct {
	Path          string  `json:"pool" doc:"Empty: the root"`
	Depth         int     `json:"depth"`
	New           bool    `json:"new,omitempty" doc:"The current configuration does not name the pool"`
	Gone          bool    `json:"gone,omitempty" doc:"The new configuration no longer names the pool"`
	WeightBefore  float64 `json:"weight_before"`
	WeightAfter   float64 `json:"weight_after"`
	ShareBefore   float64 `json:"share_before"`
	ShareAfter    float64 `json:"share_after"`
	FairNowBefore float64 `json:"fair_now_before" doc:"Entitlement in units, given the present demand"`
	FairNowAfter  float64 `json:"fair_now_after"`
	Running       float64 `json:"running" doc:"Units in use"`
	Starts        int     `json:"starts,omitempty"`
	Stops         int     `json:"stops,omitempty"`
}

// PlanReplay compares how the past would have gone under both configurations. Both replays begin with the tasks that
// ran at that time, and without earlier usage. Waits count from the instant at which a task could have started, but
// not from before the start of the replay.
type PlanReplay struct {
	Seconds           float64      `json:"seconds"`
	Tasks             int          `json:"tasks"`
	Units             int          `json:"units" doc:"Units of the cluster now"`
	Unit              string       `json:"unit"`
	Guessed           int          `json:"guessed,omitempty" doc:"Tasks that have not ended, with run times of other tasks"`
	LeftOut           int          `json:"left_out,omitempty" doc:"Tasks that ask for too much, or whose run time is unknown"`
	Cut               bool         `json:"cut,omitempty" doc:"There were too many tasks: only the latest are included"`
	NeverBefore       int          `json:"never_before,omitempty" doc:"Tasks that would never start; they count in no pool"`
	NeverAfter        int          `json:"never_after,omitempty"`
	UtilisationBefore float64      `json:"utilisation_before"`
	UtilisationAfter  float64      `json:"utilisation_after"`
	JainBefore        float64      `json:"jain_before" doc:"Jain's index of each user's usage divided by its entitlement"`
	JainAfter         float64      `json:"jain_after"`
	Pools             []PoolReplay `json:"pools" doc:"The top pools"`
}

// PoolReplay is a pool in a replay. Waits are those of its tasks.
type PoolReplay struct {
	Path             string  `json:"pool"`
	Tasks            int     `json:"tasks"`
	MedianWaitBefore int64   `json:"median_wait_seconds_before"`
	MedianWaitAfter  int64   `json:"median_wait_seconds_after"`
	P95WaitBefore    int64   `json:"p95_wait_seconds_before"`
	P95WaitAfter     int64   `json:"p95_wait_seconds_after"`
	UsedBefore       float64 `json:"used_before" doc:"Part of the total usage"`
	UsedAfter        float64 `json:"used_after"`
}

// ApplyRequest applies a plan.
type ApplyRequest struct {
	Plan   string `json:"plan" minLength:"1" maxLength:"64"`
	Reason string `json:"reason,omitempty"`
}

// RollbackRequest applies an earlier version of the file.
type RollbackRequest struct {
	To     int    `json:"to,omitempty" minimum:"0" doc:"Number of a version; default: the previous one"`
	Plan   string `json:"plan,omitempty" doc:"Plan that was made for that version; the rollback is refused if anything has changed since the plan"`
	Reason string `json:"reason,omitempty"`
	DryRun bool   `json:"dry_run,omitempty" doc:"Report what would change, and the version's number; change nothing"`
}

// ApplyResponse describes the configuration that is now current.
type ApplyResponse struct {
	ConfigDiff
	Number int       `json:"number" doc:"Number of the version of the file"`
	File   string    `json:"file"`
	Since  time.Time `json:"since"`
}

// ConfigVersions lists the stored versions of the file, newest first.
type ConfigVersions struct {
	Version int             `json:"version"`
	Entries []ConfigVersion `json:"entries"`
}

// ConfigVersion is a version of the file.
type ConfigVersion struct {
	Number  int       `json:"number"`
	At      time.Time `json:"at"`
	Who     string    `json:"who"`
	What    string    `json:"what" doc:"Origin of the version: start, reload, apply, rollback, or unsaved (never applied)"`
	Hash    string    `json:"hash,omitempty"`
	InForce bool      `json:"in_force,omitempty"`
	Text    string    `json:"text,omitempty" doc:"Text of the file, if one version was requested"`
}
