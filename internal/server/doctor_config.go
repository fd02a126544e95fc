package server

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
)

// checkConfig checks whether the current configuration is the one in the file.
func (s *examiner) checkConfig() api.HealthCheck {
	st := s.config.Status()
	switch {
	case strings.HasPrefix(st.Problem, "the file differs from the current configuration"):
		return bad("configuration", api.ResultFail, "version "+st.Hash+" of another server is in use, and "+st.File+" differs", "make the files equal; to see the current one: fairlead config show")
	case strings.HasPrefix(st.Problem, "the settings"):
		return bad("configuration", api.ResultFail, "settings do not fit the file; version "+st.Hash+" is in use", "fairlead config show")
	case strings.HasPrefix(st.Problem, api.WaitsForRestart):
		return bad("configuration", api.ResultFail, "the file has another unit, and takes effect at the next start of the server; version "+st.Hash+" stays in use", "restart the server, or restore the unit in the file")
	case st.Problem != "":
		return bad("configuration", api.ResultFail, "the file has errors; version "+st.Hash+" stays in use", "fairlead config check "+st.File)
	}
	text := "version " + st.Hash + " in use"
	if n := len(st.Settings); n > 0 {
		text += fmt.Sprintf(", with %d settings that override the file (fairlead config history)", n)
	}
	return good("configuration", text)
}

// checkFiles checks who may read the jobs and write the configuration.
func (s *examiner) checkFiles() []api.HealthCheck {
	var found []string
	looked := 0
	worst := api.ResultOK
	look := func(path string, forbidden fs.FileMode, result, what string) {
		info, err := os.Stat(path)
		if err != nil {
			return
		}
		looked++
		if info.Mode().Perm()&forbidden != 0 {
			found = append(found, fmt.Sprintf("%s %s (%v)", path, what, info.Mode().Perm()))
			if worst != api.ResultFail {
				worst = result
			}
		}
	}
	const others = 0o002
	if file := s.config.Status().File; file != "" {
		look(file, others, api.ResultFail, "can be changed by all users")
		look(filepath.Dir(file), others, api.ResultFail, "lets all users replace the configuration")
	}
	if s.database != "" {
		look(s.database, 0o077, api.ResultFail, "can be read by users other than its owner, with the environment of all jobs")
	}
	switch {
	case looked == 0:
		return nil
	case len(found) == 0:
		return []api.HealthCheck{counted(good("files", "no other user can change the server's files or read the "+
			"jobs"), 0, "files")}
	}
	return []api.HealthCheck{counted(bad("files", worst, strings.Join(found, "; "), "chmod o-w for the "+
		"configuration and its directory, chmod 600 for the database"), len(found), "files")}
}

// checkAccess reports how users are identified: on the socket by their processes, on an address by sessions. Traffic on
// an address is not encrypted.
func (s *examiner) checkAccess() api.HealthCheck {
	web := s.addresses.forBrowsers()
	var open []string
	for _, address := range web {
		host, _, _ := net.SplitHostPort(address)
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			open = append(open, address)
		}
	}
	l, missing := s.limits, s.addresses.missing(false)
	room := fmt.Sprintf("; up to %d connections, %d of one user", l.All, l.User)
	switch {
	case len(open) > 0:
		return bad("access", api.ResultFail, "it listens on "+strings.Join(open, ", ")+", without encryption", "listen on 127.0.0.1 and the socket only")
	case missing != "":
		return bad("access", api.ResultFail, "it cannot listen on "+missing+"; it answers on its socket, and tries again",
			"find the program that uses the port (ss -ltnp, as root); do not open addresses on that port")
	case len(web) == 0:
		return good("access", "on the socket, which identifies users by their processes"+room)
	}
	return good("access", "on the socket, which identifies users by their processes, and with sessions on "+
		strings.Join(web, ", ")+room)
}
