package config

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// Server holds the settings of the server itself. The server reads them when it starts, so changes take effect at the
// next start.
type Server struct {
	Listen      []string // loopback addresses, host:port
	Anonymous   string   // visible without a session: nothing, metrics, view
	Origins     []string // of the dashboard behind a proxy, http://host
	Socket      string   // path; empty means the default of the server's user
	SocketMode  os.FileMode
	SocketGroup string
	Database    string // path or URL
	LeaseTTL    time.Duration
	Retention   time.Duration // of finished jobs; 0 means forever
	LogLevel    slog.Level
	LogFormat   string // text or json
	TLS         TLS
}

// TLS says how the server serves nodes on other machines.
type TLS struct {
	Listen    []string // host:port
	Names     []string // under which nodes reach the server
	Authority string   // file
}

// What a client of an address sees without a session.
const (
	SeeNothing = "nothing"
	SeeMetrics = "metrics"
	SeeAll     = "view" // everything that each user of the machine may see
)

var anonymous = choice("anonymous", []string{SeeNothing, SeeMetrics, SeeAll}, []string{SeeNothing, SeeMetrics, SeeAll})

// maxSocket is the longest path that fits into the address of a socket, in bytes.
const maxSocket = 107

const maxListen = 16

// listen is an address or a list of addresses.
var listen = textList("address", "addresses", `^(127\.[0-9.]+|localhost|\[::1\]):[0-9]+$`, maxListen, checkListen)

// checkListen returns why the server cannot listen at an address. The traffic there is not encrypted, so only this
// machine may connect.
func checkListen(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return clip(addr) + " is not an address such as 127.0.0.1:7447"
	}
	if wrong := checkPort(port); wrong != "" {
		return wrong
	}
	ip, err := netip.ParseAddr(host)
	if host == "localhost" || err == nil && ip.IsLoopback() && !ip.Is4In6() && ip.Zone() == "" {
		return ""
	}
	return clip(addr) + " can be reached from other machines, without encryption;" +
		" use 127.0.0.1, [::1] or localhost, and tls.listen for nodes on other machines"
}

func checkPort(port string) string {
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || port != strconv.FormatUint(n, 10) {
		return clip(port) + " is not a port from 0 to 65535"
	}
	return ""
}

// octal is the mode of a file, as chmod takes it.
var octal = kind[os.FileMode]{
	word:   "octal mode in quotes",
	schema: described(object{"type": "string", "pattern": "^0?[0-7]{3}$"}),
	read: func(r *reader, name string, n *node) (os.FileMode, bool) {
		text, ok := r.text(name, n)
		if !ok {
			return 0, false
		}
		mode, err := strconv.ParseUint(text, 8, 32)
		if err != nil || len(strings.TrimPrefix(text, "0")) > 3 || len(text) < 3 || len(text) > 4 {
			r.errorf(n, `%s must be an octal mode such as "0666", got %s`, name, n.describe())
			return 0, false
		}
		return os.FileMode(mode), true
	},
	show: func(mode os.FileMode) *node { return textOf(fmt.Sprintf("%04o", mode)) },
}

var logLevel = choice("log level", []string{"debug", "info", "warn", "error"},
	[]slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError})

var logFormat = choice("log format", []string{"text", "json"}, []string{"text", "json"})
