package words

import (
	"strings"

	"github.com/fairlead/fairlead"
)

// Reserved says what a reservation is for.
func Reserved(r *fairlead.Reservation) string {
	if r.Maintenance {
		return "maintenance"
	}
	return "reserved for " + ForWhom(r)
}

// ForWhom says who may use a reservation.
func ForWhom(r *fairlead.Reservation) string {
	var parts []string
	if len(r.Pools) > 0 {
		parts = append(parts, "pool "+strings.Join(r.Pools, ","))
	}
	if len(r.Users) > 0 {
		parts = append(parts, "user "+strings.Join(r.Users, ","))
	}
	return strings.Join(parts, " and ")
}
