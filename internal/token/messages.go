package token

import "time"

// TokenRequest asks a server for a token.
type TokenRequest struct {
	Owner       string   `json:"owner,omitempty" maxLength:"255" doc:"The user as whom it acts; absent: who asks"`
	Scopes      []string `json:"scopes" minItems:"1" maxItems:"20" doc:"What it is good for, such as submit or run:KIND"`
	Pools       []string `json:"pools,omitempty" maxItems:"100" doc:"Where it is good; absent: everywhere"`
	LastSeconds float64  `json:"last_seconds,omitempty" minimum:"0" doc:"At most a year; absent: 90 days"`
	Note        string   `json:"note,omitempty" maxLength:"200" doc:"What it is for"`
}

// TokenCreated is a token that was made. Its text is shown once.
type TokenCreated struct {
	Version int    `json:"version"`
	Text    string `json:"text" doc:"The token itself, to be kept in a file that only its user can read"`
	Token   Token  `json:"token"`
}

// TokenList lists tokens without their secrets.
type TokenList struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Tokens  []Token   `json:"tokens"`
}

// TokenEnded is a token that was revoked.
type TokenEnded struct {
	Version int   `json:"version"`
	Token   Token `json:"token"`
}
