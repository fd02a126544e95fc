package cluster

// A bridge offers these amounts where the queueing system behind it knows its own limits. They are no part of
// the cluster: nobody counts how much there is.
const (
	uncounted      = 1_000_000
	uncountedBytes = 1 << 50
	bridgeLabel    = "bridge"
)

// uncountedOf tells, by the number of the resource, which amounts of a node nobody counts.
func uncountedOf(capacity Vector, labels Labels) (of []bool) {
	if _, bridged := labels[bridgeLabel]; !bridged {
		return nil
	}
	for _, n := range capacity {
		of = append(of, n == uncounted || n == uncountedBytes)
	}
	return of
}
