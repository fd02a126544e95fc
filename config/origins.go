package config

import (
	"net/url"
	"strings"
)

const maxOrigins = 16

// origins lists the addresses at which browsers reach the dashboard through a proxy.
var origins = textList("address", "addresses", `^https?://[a-z0-9.:\[\]-]+$`, maxOrigins, checkOrigin)

// checkOrigin returns why text is not an origin as browsers send it: without a path, without the default port, and in
// lower case.
func checkOrigin(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || len(text) > 255 {
		return clip(text) + " is not an address such as http://cluster.example"
	}
	host := strings.ToLower(u.Host)
	if port := u.Port(); u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	if want := u.Scheme + "://" + host; text != want {
		return clip(text) + " has more than scheme, host and port, but a browser sends only these; write " + clip(want)
	}
	return ""
}
