// Package ca is the certificate authority of a cluster: it makes the root, and certificates that are valid
// for a day. Servers and nodes on several machines identify each other by these certificates. The packages
// crypto/x509 and crypto/tls handle the certificates themselves. The caller passes in the time.
package ca
