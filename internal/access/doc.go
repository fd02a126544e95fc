// Package access says who asks, and whether they may. An [Authenticator] makes a [Principal] of what a request shows;
// its rights follow from it and from the configuration, and from nothing else in the request.
//
// The package does no I/O. A server has one authenticator for each listener.
package access
