// Package api defines the JSON of the HTTP interface between the server and its clients and agents. Names end in their
// unit; times are RFC 3339.
package api

// Version is the version of the documents.
const Version = 1
