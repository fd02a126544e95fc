// Package api holds the JSON of the HTTP interface: what the server sends, what the
// remote client and the agents read. Names end in their unit; times are RFC 3339.
package api

// Version is the version of the documents.
const Version = 1
