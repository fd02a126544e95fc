// Package access identifies the sender of a request and decides what it may do. An [Authenticator] derives a
// [Principal] from a request. The configuration gives the principal its rights, and nothing else in the request
// changes these rights.
//
// The package does no I/O. A server has one authenticator for each listener.
package access
