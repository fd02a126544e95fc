package forecast

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/why"
)

// advice says which change helps most, or that none does. The argument "tried" names the kinds of changes that were
// tried in full, such as "a shorter time limit"; without such kinds no change is ruled out.
func advice(changes []why.Change, tried []string) string {
	if len(changes) == 0 {
		if len(tried) == 0 {
			return ""
		}
		return "none of the changes tried would start it much sooner (" + strings.Join(tried, ", ") + ")"
	}
	best := slices.MaxFunc(changes, func(x, y why.Change) int {
		return cmp.Or(first(x.Now, y.Now), cmp.Compare(x.Seconds, y.Seconds), first(x.Alter, y.Alter))
	})
	verb, when := "submit ", "now"
	if best.Alter {
		verb = "alter "
	}
	if !best.Now {
		when = "by " + instant.Text(best.By)
	}
	text := verb + best.Flags + " helps most: it would start " + when
	if best.Seconds > 0 {
		text += ", " + why.Duration(time.Duration(best.Seconds*float64(time.Second))) + " sooner"
	}
	return text
}

// first sorts items with a property behind items without it.
func first(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}
