package permit

import "time"

// Request asks for a permit with a join token.
type Request struct {
	Bounds
	TTLSeconds float64 `json:"ttl_seconds" minimum:"60" maximum:"2592000" doc:"How long the join token is valid"`
}

// Invitation is a permit with its join token, which is shown once.
type Invitation struct {
	Node  string    `json:"node"`
	Token string    `json:"token"`
	Until time.Time `json:"until"`
}

// Roots holds the certificates of the authority.
type Roots struct {
	Cluster string `json:"cluster"`
	Roots   string `json:"roots" doc:"Certificates in PEM, the newest first"`
}

// Join shows a join token.
type Join struct {
	Node    string `json:"node" maxLength:"256"`
	ID      string `json:"id" maxLength:"64"`
	Secret  string `json:"secret" maxLength:"64"`
	Request string `json:"request" maxLength:"8192" doc:"A certificate request in PEM (PKCS 10)"`
}

// Renew shows a certificate that ends soon, or that ended at most a week ago.
type Renew struct {
	Certificate string `json:"certificate" maxLength:"8192"`
	Request     string `json:"request" maxLength:"8192" doc:"A certificate request for the same key"`
}

// Certified is a certificate, with the roots that its holder must trust.
type Certified struct {
	Certificate string `json:"certificate"`
	Roots       string `json:"roots"`
}

// List holds all permits.
type List struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Permits []Permit  `json:"permits"`
}
