package api

// UsageRequest sets the usage of a pool.
type UsageRequest struct {
	// Pool is the path of a leaf or, if UsedSeconds is 0, of any pool.
	Pool string `json:"pool" minLength:"1" maxLength:"600"`
	// UsedSeconds is the usage in slot-seconds, as of now; 0 deletes it.
	UsedSeconds float64 `json:"used_slot_seconds" minimum:"0" maximum:"1e15"`
}

// UsageResponse has the usage before and after the change.
type UsageResponse struct {
	Version int           `json:"version"`
	Unit    string        `json:"unit"`
	Pools   []UsageChange `json:"pools"`
}

// UsageChange is the usage of one leaf before and after, in slot-seconds.
type UsageChange struct {
	Pool string  `json:"pool"`
	Old  float64 `json:"old"`
	New  float64 `json:"new"`
}
