package server

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
)

// checkConfig looks whether what is in force is what the file says.
func (s *Server) checkConfig() api.HealthCheck {
	st := s.options.Config.Status()
	switch {
	case strings.HasPrefix(st.Problem, "the file is not what is in force"):
		return bad("configuration", api.ResultFail, "version "+st.Hash+" of another server is in force, and "+st.File+" is another", "make the file the same: fairlead config show")
	case strings.HasPrefix(st.Problem, "the settings"):
		return bad("configuration", api.ResultFail, "settings do not fit the file; version "+st.Hash+" is in force", "fairlead config show")
	case st.Problem != "":
		return bad("configuration", api.ResultFail, "the file has errors; version "+st.Hash+" stays in force", "fairlead config check "+st.File)
	}
	text := "version " + st.Hash + " in force"
	if n := len(st.Settings); n > 0 {
		text += fmt.Sprintf(", with %d settings over the file (fairlead config history)", n)
	}
	return good("configuration", text)
}

// checkFiles looks who may read the jobs and write the configuration.
func (s *Server) checkFiles() []api.HealthCheck {
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
	if file := s.options.Config.Status().File; file != "" {
		look(file, others, api.ResultFail, "can be changed by everybody")
		look(filepath.Dir(file), others, api.ResultFail, "lets everybody exchange the configuration")
	}
	if s.options.Database != "" {
		look(s.options.Database, 0o077, api.ResultFail, "can be read by others than its owner, with the environment of all jobs")
	}
	switch {
	case looked == 0:
		return nil
	case len(found) == 0:
		return []api.HealthCheck{counted(good("files", "the server's files are its own"), 0, "files")}
	}
	return []api.HealthCheck{counted(bad("files", worst, strings.Join(found, "; "), "chmod o-w the configuration and its directory, and 600 the database"), len(found), "files")}
}

// checkAccess says how users are known. There are no certificates and no tokens: other
// machines are let in by nothing but a wrong address.
func (s *Server) checkAccess() api.HealthCheck {
	s.mu.Lock()
	listen := slices.Clone(s.listen)
	s.mu.Unlock()
	local, open := []string{}, []string{}
	for _, address := range listen {
		host, _, err := net.SplitHostPort(address)
		if ip := net.ParseIP(host); err == nil && (ip == nil || !ip.IsLoopback()) {
			open = append(open, address)
		} else if err == nil {
			local = append(local, address)
		}
	}
	switch {
	case len(open) > 0:
		return bad("access", api.ResultFail, "it listens on "+strings.Join(open, ", ")+", where it cannot know who asks", "listen on 127.0.0.1 and the socket only")
	case len(listen) > 0 && len(local) == 0:
		return good("access", "over its socket only, no tokens or certificates: Prometheus and browsers cannot connect")
	}
	return good("access", "from this machine only: users are known by their processes, there are no tokens or certificates")
}
