package why

// Comparison says which of two goes first, and by which number.
type Comparison struct {
	Version int    `json:"version"`
	A       string `json:"a"` // what was asked about
	B       string `json:"b"` // what it was compared with
	PoolA   string `json:"pool_a"`
	PoolB   string `json:"pool_b"`
	First   string `json:"first"` // "a" or "b"
	// By names what decided: key, tie (the policy's second number), digits (the keys are
	// equal as far as they are written, and what they follow from is not), age of the pool,
	// minimum (one is below its guaranteed minimum), order (within one leaf), or work
	// (one of them has nothing that may start).
	By    string `json:"by"`
	Level Level  `json:"level"`
	Note  string `json:"note,omitempty"`
	// Standing says which of the two does not wait for its turn: the comparison is of
	// their places only.
	Standing string `json:"standing,omitempty"`
}

// Decide fills in which child of a two-child level goes first, and by what. you is
// the name of the child that A is in.
func (c *Comparison) Decide(l Level) {
	first, second := l.Children[0], l.Children[1]
	c.Level, c.First = l, "b"
	if first.Name == l.You {
		c.First = "a"
	}
	switch {
	case first.Needy != second.Needy:
		c.By = "minimum"
	case first.Key != second.Key:
		c.By = "key"
	case first.Tie != second.Tie:
		c.By = "tie"
	case first.Fixed != second.Fixed:
		c.By = "digits"
	default:
		c.By = "age"
	}
}
