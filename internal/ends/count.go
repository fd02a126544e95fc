package ends

// Count is a number of ended attempts, without the cancelled ones.
type Count struct{ Ended, Failed int64 }

// Rate is the fraction of attempts that failed, 0 if none ended.
func (c Count) Rate() float64 {
	if c.Ended == 0 {
		return 0
	}
	return float64(c.Failed) / float64(c.Ended)
}

func (c Count) plus(d Count) Count { return Count{c.Ended + d.Ended, c.Failed + d.Failed} }

// Minus returns the attempts of c that are not in d.
func (c Count) Minus(d Count) Count { return Count{c.Ended - d.Ended, c.Failed - d.Failed} }

// Sum adds counts up.
func Sum(of map[string]Count) (sum Count) {
	for _, c := range of {
		sum = sum.plus(c)
	}
	return sum
}
