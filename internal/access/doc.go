// Package access identifies the sender of a request and decides what it may do. An [Authenticator] derives a
// [Principal] from a request; the configuration gives it its rights, and nothing else in the request changes them.
//
// The package does no I/O. A server has one authenticator for each listener.
package access
