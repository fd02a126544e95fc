package frontback

// sum adds up in twice the usual precision, so that an amount that is added and taken away again
// leaves no trace, and the order does not matter.
type sum struct{ high, low float64 }

func (s *sum) add(x float64) {
	h, e := twoSum(s.high, x)
	s.high, s.low = twoSum(h, e+s.low)
}

func (s *sum) value() float64 { return s.high + s.low }

// twoSum is a + b, and what rounding took from it (Knuth, The Art of Computer Programming
// 2, 4.2.2).
func twoSum(a, b float64) (total, lost float64) {
	total = float64(a + b)
	v := float64(total - a)
	return total, float64(a-float64(total-v)) + float64(b-v)
}
