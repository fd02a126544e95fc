package server

import (
	"context"
	"net/http"
	"path"
	"strings"

	"github.com/fairlead/fairlead/internal/access"
)

// clusterPath is the prefix of the paths that a machine needs before it has a valid certificate.
const clusterPath = "/v1/cluster/"

// ofNode reports whether a node may send a request: only those of its own agent.
func ofNode(p access.Principal, r *http.Request) bool {
	return path.Clean(r.URL.Path) == r.URL.Path && strings.HasPrefix(r.URL.Path, "/v1/agents/"+p.Name+"/") ||
		strings.HasPrefix(r.URL.Path, clusterPath)
}

// fromOutside reports whether a request came over a listener with its own authenticator, which other machines can
// reach.
func fromOutside(ctx context.Context) bool {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c != nil && c.by != nil
}
