package config

import (
	"net"
	"regexp"
)

const maxNames = 64

// outside is one address or several that other machines may reach.
var outside = textList("address", "addresses", `^[0-9A-Za-z.:\[\]-]*:[0-9]+$`, maxListen, checkOutside)

// hostNames is one name or address of the server itself, or several.
var hostNames = textList("name", "names", `^[0-9A-Za-z.:-]+$`, maxNames, checkHostName)

func tlsFields() []field {
	return []field{
		of("listen", "[]", "Addresses for agents on other machines, such as 0.0.0.0:7448. "+
			"Connections are encrypted, and the server answers only clients with the certificate of a node or a join token.",
			outside, func(t *TLS) *[]string { return &t.Listen }),
		of("names", "[]", "Names and addresses at which nodes reach this machine, "+
			"for the certificate of the server. The name of the machine and the addresses of its interfaces are included automatically.",
			hostNames, func(t *TLS) *[]string { return &t.Names }),
		of("authority", `""`, "The file with the key of the cluster; fairlead cluster init makes it. "+
			"If empty: /var/lib/fairlead/authority.pem for root, and a file in XDG_STATE_HOME for other users.",
			line("path", 4096, anyText), func(t *TLS) *string { return &t.Authority }),
	}
}

// checkOutside returns why the server cannot listen at an address.
func checkOutside(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return clip(addr) + " is not an address such as 0.0.0.0:7448"
	}
	return checkPort(port)
}

var hostName = regexp.MustCompile(`^[0-9A-Za-z]([0-9A-Za-z.-]{0,251}[0-9A-Za-z])?$`)

func checkHostName(name string) string {
	if net.ParseIP(name) == nil && !hostName.MatchString(name) {
		return clip(name) + " is neither the name of a machine nor an address"
	}
	return ""
}
