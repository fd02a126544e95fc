package cluster

// A bridge offers these amounts if the queueing system behind it has limits of its own. They do not count as
// capacity of the cluster, because nobody counts the real amounts.
const (
	uncounted      = 1_000_000
	uncountedBytes = 1 << 50
	bridgeLabel    = "bridge"
)

// uncountedOf marks, by the number of the resource, the amounts of a node that nobody counts.
func uncountedOf(capacity Vector, labels Labels) (of []bool) {
	if _, bridged := labels[bridgeLabel]; !bridged {
		return nil
	}
	for _, n := range capacity {
		of = append(of, n == uncounted || n == uncountedBytes)
	}
	return of
}
