package api

// UsageRequest sets what a pool has received.
type UsageRequest struct {
	// Pool is the path of a leaf or, if UsedSeconds is 0, of any pool.
	Pool string `json:"pool" minLength:"1" maxLength:"600"`
	// UsedSeconds are slot-seconds, as of now; 0 forgets what it received.
	UsedSeconds float64 `json:"used_slot_seconds" minimum:"0" maximum:"1e15"`
}

// UsageResponse has the usage before and after the change.
type UsageResponse struct {
	Version int           `json:"version"`
	Unit    string        `json:"unit"`
	Pools   []UsageChange `json:"pools"`
}

// UsageChange is what one leaf had, and has now, in slot-seconds.
type UsageChange struct {
	Pool string  `json:"pool"`
	Old  float64 `json:"old"`
	New  float64 `json:"new"`
}
