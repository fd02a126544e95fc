package frontback

// sum adds in twice the usual precision, so that an amount that is added and subtracted again leaves no
// trace, and the order does not matter.
type sum struct{ high, low float64 }

func (s *sum) add(x float64) {
	h, e := twoSum(s.high, x)
	s.high, s.low = twoSum(h, e+s.low)
}

func (s *sum) value() float64 { return s.high + s.low }

// twoSum returns a + b and its rounding error (Knuth, The Art of Computer Programming 2, 4.2.2).
func twoSum(a, b float64) (total, lost float64) {
	total = float64(a + b)
	v := float64(total - a)
	return total, float64(a-float64(total-v)) + float64(b-v)
}
