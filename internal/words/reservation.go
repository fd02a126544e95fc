package words

import (
	"strings"

	"github.com/fairlead/fairlead/internal/engine"
)

// Reserved describes the users or the purpose of a reservation.
func Reserved(r *engine.Reservation) string {
	if r.Maintenance {
		return "maintenance"
	}
	return "reserved for " + ForWhom(r)
}

// ForWhom lists the pools and users of a reservation.
func ForWhom(r *engine.Reservation) string {
	var parts []string
	if len(r.Pools) > 0 {
		parts = append(parts, "pool "+Pools(r.Pools))
	}
	if len(r.Users) > 0 {
		parts = append(parts, "user "+strings.Join(r.Users, ","))
	}
	return strings.Join(parts, " and ")
}
