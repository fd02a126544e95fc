package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"go.yaml.in/yaml/v4"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/socket"
	"github.com/fairlead/fairlead/internal/token"
)

// systemSocket is the path of the socket of a machine's server.
const systemSocket = "/run/fairlead/fairlead.sock"

// systemClient is the file that tells all users of a machine which server to use.
const systemClient = "/etc/fairlead/client.yaml"

// clientFile is a client.yaml: the server to use, and the user it may run as.
type clientFile struct {
	Server     string `yaml:"server"`
	ServerUser string `yaml:"server_user"`
}

// client returns a client of the named server. Without a name it takes the first server that has a socket on
// this machine.
func (a *app) client() (*api.Client, error) {
	where, err := a.which()
	if err != nil {
		return nil, err
	}
	var trusted []int
	if where.ServerUser != "" {
		uid, err := socket.UserID(where.ServerUser)
		if err != nil {
			return nil, usagef("the user of the server: %w", err)
		}
		trusted = append(trusted, uid)
	}
	c, err := api.Dial(where.Server, trusted...)
	if err != nil {
		return nil, usageError{err}
	}
	if file := os.Getenv("FAIRLEAD_TOKEN_FILE"); file != "" {
		if c.Token, err = token.ReadFile(file); err != nil {
			return nil, usagef("the token in FAIRLEAD_TOKEN_FILE: %w", err)
		}
	}
	c.Trace = os.Getenv("TRACEPARENT")
	return c, nil
}

// which returns the server to use. The command line overrides the user's file, which overrides that of the
// system.
func (a *app) which() (clientFile, error) {
	said := clientFile{a.server, a.serverUser}
	for _, name := range clientFiles() {
		file, err := readClientFile(name)
		if err != nil {
			return said, usageError{err}
		}
		said.Server, said.ServerUser = cmp.Or(said.Server, file.Server), cmp.Or(said.ServerUser, file.ServerUser)
	}
	if said.Server != "" {
		return said, nil
	}
	paths := socketPaths()
	if said.Server = firstSocket(paths); said.Server != "" {
		return said, nil
	}
	err := fmt.Errorf("%w: %s does not exist", api.ErrUnreachable, paths[0])
	if len(paths) > 1 {
		err = fmt.Errorf("%w, nor does %s", err, paths[1])
	}
	return said, err
}

// firstSocket returns the first of these sockets that exists. It prefers a socket on which a server listens:
// a killed server leaves its socket behind.
func firstSocket(paths []string) string {
	there := slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		info, err := os.Lstat(path)
		return err != nil || info.Mode().Type() != os.ModeSocket
	})
	switch len(there) {
	case 0:
		return ""
	case 1:
		return there[0] // the usual case: the command finds out whether somebody listens
	}
	return there[max(0, slices.IndexFunc(there, func(path string) bool { return !dead(path) }))]
}

// dead reports whether nobody listens on a socket any longer.
func dead(path string) bool {
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// with runs f with a client.
func (a *app) with(f func(*api.Client) error) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	defer c.Close()
	return f(c)
}

// clientFiles returns the files that name the server to use, the most important first.
func clientFiles() []string {
	files := []string{systemClient}
	if dir, err := os.UserConfigDir(); err == nil {
		files = append([]string{filepath.Join(dir, "fairlead", "client.yaml")}, files...)
	}
	return files
}

// readClientFile reads a file that may be missing.
func readClientFile(name string) (file clientFile, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	if err != nil {
		return file, err
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return file, fmt.Errorf("%s: %w", name, err)
	}
	return file, nil
}

// socketPaths returns the paths where a server on this machine may have its socket. The user's own comes
// first, unless its directory belongs to somebody else, who could put another server there.
func socketPaths() []string {
	if own := userSocket(); os.Getuid() != 0 && socket.Own(filepath.Dir(own)) {
		return []string{own, systemSocket}
	}
	return []string{systemSocket}
}

// runtimeDir returns the directory that the system made for this user's sockets, or "".
func runtimeDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" && socket.Own(dir) {
		return dir
	}
	return ""
}

// userSocket returns the path of the socket of an ordinary user's server: in the user's runtime directory or,
// without one, in a directory among the temporary files.
func userSocket() string {
	if dir := runtimeDir(); dir != "" {
		return filepath.Join(dir, "fairlead.sock")
	}
	return filepath.Join(os.TempDir(), fmt.Sprint("fairlead-", os.Getuid()), "fairlead.sock")
}

// defaultSocket returns the path where a server of this user puts its socket.
func defaultSocket() string {
	if os.Getuid() == 0 {
		return systemSocket
	}
	return userSocket()
}

// isPrivate reports whether a socket belongs to the server of an ordinary user. It then is in the runtime
// directory, or in the directory that this program makes among the temporary files; both are closed to
// others.
func isPrivate(path string) bool { return os.Getuid() != 0 && path == userSocket() }
