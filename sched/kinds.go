package sched

// firstKind is the number of the first kind of gate.
const firstKind = byMax

// newKinds lists the kinds of gates by number. A sub-queue asks them in this order.
func newKinds(h *gates) []gateKind {
	return []gateKind{
		byMax - firstKind:     &maximumGate{h: h},
		byWindow - firstKind:  &windowGate{h: h},
		byLicense - firstKind: &licenseGate{h: h},
		byRate - firstKind:    &rateGate{h: h},
		byPause - firstKind:   &pauseGate{h: h},
		byUser - firstKind:    &userGate{h: h},
		byAway - firstKind:    &awayGate{h: h},
	}
}
