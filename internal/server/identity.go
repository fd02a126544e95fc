package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

// actor is who a connection belongs to.
type actor struct {
	api.Actor
	group string
}

type actorKey struct{}

// connContext finds out who is at the other end of a connection: from the kernel, by
// the credentials of the peer's socket. Nothing in a request can change that.
func (s *Server) connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, actorKey{}, identify(c))
}

func identify(c net.Conn) actor {
	switch conn := c.(type) {
	case *net.UnixConn:
		if uid, ok := peerUID(conn); ok {
			return actorOf(uid, "socket")
		}
	case *net.TCPConn:
		if uid, ok := loopbackUID(conn); ok {
			return actorOf(uid, "loopback")
		}
	}
	return actor{Actor: api.Actor{UID: -1, By: "unknown"}}
}

// actorOf names a user. The user under whom the server runs, and root, may do
// everything.
func actorOf(uid int, by string) actor {
	a := actor{Actor: api.Actor{UID: uid, User: fmt.Sprint("uid", uid), By: by, Admin: uid == 0 || uid == os.Getuid()}}
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		a.User = u.Username
		if g, err := user.LookupGroupId(u.Gid); err == nil {
			a.group = g.Name
		}
	}
	return a
}

func peerUID(c *net.UnixConn) (uid int, ok bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	var cred *syscall.Ucred
	cerr := raw.Control(func(fd uintptr) {
		cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err != nil || cerr != nil {
		return 0, false
	}
	return int(cred.Uid), true
}

// loopbackUID finds the owner of the other end of a connection within this machine
// in the kernel's table of sockets.
func loopbackUID(c *net.TCPConn) (uid int, ok bool) {
	local, _ := c.LocalAddr().(*net.TCPAddr)
	remote, _ := c.RemoteAddr().(*net.TCPAddr)
	if local == nil || remote == nil || !remote.IP.IsLoopback() {
		return 0, false
	}
	for _, file := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if uid, ok := findSocket(string(text), remote, local); ok {
			return uid, true
		}
	}
	return 0, false
}

// findSocket looks for the socket whose own address is from and whose peer's is to.
func findSocket(table string, from, to *net.TCPAddr) (uid int, ok bool) {
	ports := [2]string{fmt.Sprintf(":%04X", from.Port), fmt.Sprintf(":%04X", to.Port)}
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 8 || !strings.HasSuffix(f[1], ports[0]) || !strings.HasSuffix(f[2], ports[1]) {
			continue
		}
		const established = "01"
		if f[3] != established || !sameIP(f[1], from.IP) || !sameIP(f[2], to.IP) {
			continue
		}
		if uid, err := strconv.Atoi(f[7]); err == nil {
			return uid, true
		}
	}
	return 0, false
}

// sameIP compares an address of the kernel's table, in 32-bit words of this
// machine's byte order, with ip.
func sameIP(entry string, ip net.IP) bool {
	text, _, _ := strings.Cut(entry, ":")
	if len(text)%8 != 0 {
		return false
	}
	var parsed net.IP
	for i := 0; i < len(text); i += 8 {
		word, err := strconv.ParseUint(text[i:i+8], 16, 32)
		if err != nil {
			return false
		}
		parsed = append(parsed, byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
	}
	return parsed.Equal(ip)
}

// who is the actor behind a request.
func who(ctx context.Context) actor {
	a, ok := ctx.Value(actorKey{}).(actor)
	if !ok {
		return actor{Actor: api.Actor{UID: -1, By: "unknown"}}
	}
	return a
}

// verb is what somebody wants to do.
type verb string

const (
	doOutput verb = "read the output of the job"
	doSubmit verb = "submit jobs"
	doAlter  verb = "change the job"
	doAgent  verb = "run an agent"
	doNodes  verb = "change nodes"
	doShares verb = "change shares"
)

// shown is a job as the actor may see it: that it is there and what it asks for is
// everybody's business, who share with it; its environment and data are its owner's.
func shown(a actor, j *fairlead.Job) api.Job {
	out := api.FromJob(j)
	if !a.Admin && (a.UID < 0 || a.User != j.User) {
		out.Env, out.Payload, out.Args = nil, nil, nil
	}
	return out
}

// checkWords refuses what somebody says of a job or a node if it could be mistaken where
// others read it. The rule is that of names.
func checkWords(field, text string) error {
	switch {
	case len(text) > fairlead.MaxName:
		return &fairlead.Invalid{Field: field, Msg: fmt.Sprintf("is longer than %d bytes", fairlead.MaxName)}
	case !utf8.ValidString(text):
		return &fairlead.Invalid{Field: field, Msg: "is not valid UTF-8"}
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return &fairlead.Invalid{Field: field, Msg: fmt.Sprintf("holds a control character: %.60q", text)}
	}
	return nil
}

// checkNice lets only administrators put a job before others.
func checkNice(a actor, nice int) error {
	if nice < 0 && !a.Admin {
		return fmt.Errorf("only administrators may be less nice than 0, got %d: %w", nice, fairlead.ErrForbidden)
	}
	return nil
}

// check says whether the actor may do something to what belongs to owner. What is
// not allowed here is forbidden.
func check(a actor, v verb, owner string) error {
	switch {
	case a.Admin:
		return nil
	case a.UID < 0:
		return fmt.Errorf("you may not %s: the server cannot tell who you are; connect through its socket: %w", v, fairlead.ErrForbidden)
	case (v == doSubmit || v == doAlter || v == doOutput) && owner == a.User:
		return nil
	case v == doAlter || v == doOutput:
		return fmt.Errorf("you (%s) may not %s: it belongs to %s: %w", a.User, v, owner, fairlead.ErrForbidden)
	}
	return fmt.Errorf("you (%s) may not %s: %w", a.User, v, fairlead.ErrForbidden)
}
