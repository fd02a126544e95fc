package server

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/ca"
	"github.com/fairlead/fairlead/internal/permit"
)

// maxNodeConnections is how many connections one node may have. An agent needs only a few.
const maxNodeConnections = 64

// certificates identifies the nodes that connect. The certificate says whose key it is, and the permit of the node
// whether it still counts.
type certificates struct {
	ca      *ca.Keeper
	permits permit.Keeper

	mu    sync.Mutex
	nodes map[string]map[*nodeConn]bool
}

// nodeListener accepts connections that count as those of a node once they have presented a certificate.
type nodeListener struct {
	net.Listener
	of *certificates
}

// Accept returns the next connection. The TLS handshake happens at its first read.
func (l nodeListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &nodeConn{Conn: tls.Server(c, l.of.ca.Config()), of: l.of}, nil
}

// nodeConn is a connection of a node, or of a machine that wants to join as one.
type nodeConn struct {
	*tls.Conn
	of   *certificates
	node string // once it is known; guarded by the lock of certificates
}

// Close unregisters the connection and closes it.
func (c *nodeConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.nodes[c.node], c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// Authenticate checks the certificate of the connection, and whether it still counts.
func (a *certificates) Authenticate(c net.Conn, r *http.Request) (*access.Proof, error) {
	n, is := c.(*nodeConn)
	if !is {
		return nil, nil
	}
	chains := n.ConnectionState().VerifiedChains
	if len(chains) == 0 {
		return nil, nil
	}
	leaf := chains[0][0]
	node := a.ca.Authority().Holder(leaf)
	if node == "" {
		return nil, fmt.Errorf("the certificate does not belong to a node of this cluster: %w", permit.ErrUnauthenticated)
	}
	// The connection is registered first. So a revocation either finds the connection, or has already removed the
	// permit.
	if err := a.keep(n, node); err != nil {
		return nil, err
	}
	if _, err := permit.Of(r.Context(), a.permits, node, ca.Hash(leaf)); err != nil {
		return nil, err
	}
	return &access.Proof{Principal: access.Principal{
		Kind: access.Node, Name: node, UID: -1, Via: access.ByCertificate, Credential: leaf.SerialNumber.Text(16),
	}}, nil
}

// keep records which node a connection belongs to.
func (a *certificates) keep(c *nodeConn, node string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.nodes[node] == nil {
		a.nodes[node] = map[*nodeConn]bool{}
	}
	if !a.nodes[node][c] && len(a.nodes[node]) >= maxNodeConnections {
		return fmt.Errorf("node %s has %d connections: %w", node, maxNodeConnections, permit.ErrUnauthenticated)
	}
	a.nodes[node][c], c.node = true, node
	return nil
}

// connected returns the nodes with connections.
func (a *certificates) connected() (nodes []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for node, all := range a.nodes {
		if len(all) > 0 {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// drop closes the connections of a node without a TLS goodbye, which could wait for the node. It sets no deadline
// before it closes: until the deadline, a request could still be answered.
func (a *certificates) drop(node string) (dropped int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.nodes[node] {
		c.NetConn().Close()
		dropped++
	}
	return dropped
}
