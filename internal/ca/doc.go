// Package ca is the certificate authority of a cluster: it makes the root, and certificates that are good for a
// day. Servers and nodes on several machines know each other by them. The packages crypto/x509 and crypto/tls do all
// that is about certificates. The caller passes in the time.
package ca
