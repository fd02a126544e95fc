// Package socket is the Unix socket over which programs of one machine speak with a server. Both
// ends ask the kernel which user is at the other one, on the connection that they use. The server
// puts its socket into a directory that it has looked at, by a descriptor of that directory.
package socket
