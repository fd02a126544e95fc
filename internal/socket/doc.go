// Package socket is the Unix socket over which programs on one machine talk to a server. Both ends ask the
// kernel which user is at the other end, on the connection that they use. The server checks the directory of
// its socket, and then uses it only by a descriptor.
package socket
