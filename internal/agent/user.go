package agent

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/process"
)

// account is the user under whom a task runs.
type account struct {
	name, home string
	as         *process.Identity // nil: the user of the agent
}

// user returns the account for the jobs of the named user, or an error that says why they do not run here.
func (m *Machine) user(name string) (*account, error) {
	me, err := user.Current()
	if err != nil {
		return nil, &process.MachineError{Err: err}
	}
	if os.Getuid() != 0 {
		if name != me.Username && !m.options.AnyUser {
			return nil, notMeant("this agent runs as %s and does not run the jobs of %s; start it as root, so that each job "+
				"runs as its user, or with --any-user", me.Username, name)
		}
		return &account{name: me.Username, home: me.HomeDir}, nil
	}
	if m.options.AnyUser {
		return &account{name: me.Username, home: me.HomeDir}, nil
	}
	u, err := user.Lookup(name)
	var unknown user.UnknownUserError
	switch {
	case errors.As(err, &unknown):
		return nil, notRun("user %s does not exist on this machine", name)
	case err != nil:
		return nil, notRun("user %s: %v", name, err)
	}
	id, err := identity(u)
	if err != nil {
		return nil, notRun("%v", err)
	}
	if id.UID == 0 {
		if !m.options.AllowRoot {
			return nil, notMeant("this agent runs no jobs of root; submit as another user, or start it with --allow-root")
		}
		return &account{name: u.Username, home: u.HomeDir}, nil
	}
	if err := m.admits(u, id); err != nil {
		return nil, err
	}
	return &account{name: u.Username, home: u.HomeDir, as: id}, nil
}

// admits returns an error if the agent does not run the jobs of a user.
func (m *Machine) admits(u *user.User, id *process.Identity) error {
	o := m.options
	if int64(id.UID) < int64(o.MinUID) {
		return notMeant("this agent runs no jobs of system accounts, and %s has uid %d; submit as another user, or "+
			"start the agent with --min-uid %d", u.Username, id.UID, id.UID)
	}
	if len(o.Users)+len(o.Groups) == 0 || slices.Contains(o.Users, u.Username) {
		return nil
	}
	for _, gid := range append([]uint32{id.GID}, id.Groups...) {
		if g, err := user.LookupGroupId(strconv.Itoa(int(gid))); err == nil && slices.Contains(o.Groups, g.Name) {
			return nil
		}
	}
	served := append(prefixed("user ", o.Users), prefixed("group ", o.Groups)...)
	return notMeant("this agent runs only the jobs of %s, and %s is not among them", strings.Join(served, ", "),
		u.Username)
}

func prefixed(prefix string, names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = prefix + name
	}
	return all
}

func identity(u *user.User) (*process.Identity, error) {
	id := &process.Identity{}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("groups of %s: %w", u.Username, err)
	}
	numbers := make([]uint32, 0, len(groups)+2)
	for _, text := range append([]string{u.Uid, u.Gid}, groups...) {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", u.Username, err)
		}
		numbers = append(numbers, uint32(n))
	}
	id.UID, id.GID, id.Groups = numbers[0], numbers[1], numbers[2:]
	return id, nil
}

// directory returns the directory in which a task runs: the one that the user chose, otherwise the home
// directory if it exists, otherwise "/".
func (u *account) directory(dir string) string {
	if dir != "" {
		return dir
	}
	if info, err := os.Stat(u.home); err == nil && info.IsDir() && filepath.IsAbs(u.home) {
		return u.home
	}
	return "/"
}
