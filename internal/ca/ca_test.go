package ca_test

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/ca"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// lab is a server with its authority, at a time that the test chooses.
type lab struct {
	path string
	now  time.Time
	*ca.Keeper
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{path: filepath.Join(t.TempDir(), "ca.pem"), now: start}
	if err := must(ca.New("lab", start)).Create(l.path); err != nil {
		t.Fatal(err)
	}
	hosts := func() []string { return []string{"head", "10.0.0.1"} }
	clock := func() time.Time { return l.now }
	l.Keeper = must(ca.Open(l.path, "head", hosts, clock, slog.New(slog.DiscardHandler)))
	return l
}

// node makes a key and a credential of a node.
func (l *lab) node(t *testing.T, name string) *ca.Credential {
	t.Helper()
	c := &ca.Credential{Key: must(ca.NewKey())}
	l.renew(t, c, name)
	return c
}

func (l *lab) renew(t *testing.T, c *ca.Credential, name string) {
	t.Helper()
	a := l.Authority()
	c.Certificate = must(a.Node(name, must(ca.Request(c.Key)), l.now))
	c.Bundle = a.Bundle(l.now)
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
}

// exchange replaces the root of the server by a new one.
func (l *lab) exchange(t *testing.T) {
	t.Helper()
	before := l.Authority().Hash()
	if err := must(l.Authority().Exchange(l.now)).Save(l.path); err != nil {
		t.Fatal(err)
	}
	if l.Authority().Hash() == before {
		t.Fatal("the server has the old authority after an exchange")
	}
}

// meet connects a client. It returns the node that the server sees, and the errors of both ends.
func (l *lab) meet(client *tls.Config) (node string, err error) {
	near, far := pair()
	defer near.Close()
	defer far.Close()
	s, c := tls.Server(far, l.Config()), tls.Client(near, client)
	served := make(chan error, 1)
	go func() { served <- s.Handshake(); far.Close() }()
	err = c.Handshake()
	if err == nil {
		c.Read(make([]byte, 1)) // reads the server's answer to our certificate
	}
	if err := errors.Join(err, <-served); err != nil {
		return "", err
	}
	if all := s.ConnectionState().VerifiedChains; len(all) > 0 {
		return l.Authority().Holder(all[0][0]), nil
	}
	return "", nil
}

// pair returns both ends of a connection. The ends have buffers, because both may send an alert at once.
func pair() (near, far net.Conn) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	near = must(net.Dial("tcp", l.Addr().String()))
	return near, must(l.Accept())
}

func (l *lab) as(c *ca.Credential) *tls.Config {
	return c.Config("head", func() time.Time { return l.now })
}

// TestMachinesKnowEachOther checks that a node and a server of one cluster trust each other, and that neither
// trusts machines of another cluster, or a server under another name.
func TestMachinesKnowEachOther(t *testing.T) {
	l, other := newLab(t), newLab(t)
	n := l.node(t, "n17")
	if node, err := l.meet(l.as(n)); node != "n17" || err != nil {
		t.Errorf("the server sees %q, %v", node, err)
	}
	clock := func() time.Time { return l.now }
	if node, err := l.meet(must(ca.Config(n.Bundle, "10.0.0.1", clock))); node != "" || err != nil {
		t.Errorf("without a certificate the server sees %q, %v", node, err)
	}
	stranger := other.node(t, "n17")
	stranger.Bundle = n.Bundle
	if err := stranger.Check(); err != nil {
		t.Fatal(err)
	}
	old := l.as(n)
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	for what, c := range map[string]*tls.Config{
		"a server of another cluster": other.as(other.node(t, "n17")),
		"another name of the server":  n.Config("other", clock),
		"a node of another cluster":   l.as(stranger),
		"TLS 1.2":                     old,
	} {
		if node, err := l.meet(c); err == nil {
			t.Errorf("%s: connected, and the server sees %q", what, node)
		}
	}
}

// TestNodesAreNoServers checks that a node's certificate is not accepted as a server's.
func TestNodesAreNoServers(t *testing.T) {
	l := newLab(t)
	n := l.node(t, "head")
	near, far := pair()
	defer near.Close()
	asServer := &tls.Config{Certificates: []tls.Certificate{*must(l.as(n).GetClientCertificate(nil))}}
	go func() { tls.Server(far, asServer).Handshake(); far.Close() }()
	if err := tls.Client(near, l.as(l.node(t, "n1"))).Handshake(); err == nil {
		t.Error("a node was taken for a server")
	}
}

// TestRenewal checks that a certificate can be renewed for a week after its end, with its key only.
func TestRenewal(t *testing.T) {
	l := newLab(t)
	n := l.node(t, "n17")
	request, another := must(ca.Request(n.Key)), must(ca.Request(must(ca.NewKey())))
	for _, c := range []struct {
		after   time.Duration
		request string
		want    error
	}{
		{time.Hour, request, nil},
		{ca.Lasts + time.Minute, request, nil},
		{ca.Lasts + 6*24*time.Hour, request, nil},
		{ca.Lasts + 8*24*time.Hour, request, ca.ErrExpired},
		{time.Hour, another, ca.ErrRequest},
		{time.Hour, "nothing", ca.ErrRequest},
	} {
		node, key, err := l.Authority().Renewable(n.Certificate, c.request, start.Add(c.after))
		if !errors.Is(err, c.want) || (err == nil) != (node == "n17" && key != "") {
			t.Errorf("%v after: node %q, %v, want %v", c.after, node, err, c.want)
		}
	}
	strange := newLab(t).node(t, "n17")
	if _, _, err := l.Authority().Renewable(strange.Certificate, must(ca.Request(strange.Key)), start); err == nil {
		t.Error("the certificate of another cluster was renewed")
	}
	l.now = start.Add(ca.Lasts + time.Minute)
	if _, err := l.meet(l.as(n)); err == nil {
		t.Error("an ended certificate connects")
	}
}

// TestExchangeOfTheRoot checks that nodes from before an exchange can connect until they had time to renew,
// and that nodes from after it no longer trust the old root once that time is over. The server's own
// certificate follows at once.
func TestExchangeOfTheRoot(t *testing.T) {
	l := newLab(t)
	before, away := l.node(t, "n1"), l.node(t, "n2")
	l.now = start.Add(time.Hour)
	l.exchange(t)
	after := l.node(t, "n3")
	for name, c := range map[string]*ca.Credential{"n1": before, "n3": after} {
		if node, err := l.meet(l.as(c)); node != name || err != nil {
			t.Errorf("%s: the server sees %q, %v", name, node, err)
		}
	}
	if n := strings.Count(after.Bundle, "BEGIN CERTIFICATE"); n != 2 {
		t.Errorf("%d roots are believed after an exchange, want 2", n)
	}
	l.now = start.Add(6 * 24 * time.Hour)
	if _, _, err := l.Authority().Renewable(away.Certificate, must(ca.Request(away.Key)), l.now); err != nil {
		t.Errorf("a node that was away cannot renew: %v", err)
	}
	if _, err := l.meet(must(ca.Config(away.Bundle, "head", func() time.Time { return l.now }))); err != nil {
		t.Errorf("a node that was away does not know the server: %v", err)
	}
	l.now = start.Add(9 * 24 * time.Hour)
	l.renew(t, after, "n3")
	if n := strings.Count(after.Bundle, "BEGIN CERTIFICATE"); n != 1 {
		t.Errorf("%d roots are believed nine days after an exchange, want 1", n)
	}
	if node, err := l.meet(l.as(after)); node != "n3" || err != nil {
		t.Errorf("after the old root was dropped the server sees %q, %v", node, err)
	}
	l.exchange(t)
	if node, err := l.meet(l.as(after)); node != "n3" || err != nil {
		t.Errorf("after a second exchange the server sees %q, %v", node, err)
	}
}

// TestServerRenewsItself checks that the server makes a new certificate when two thirds of the validity are
// over.
func TestServerRenewsItself(t *testing.T) {
	l := newLab(t)
	for range 20 {
		l.now = l.now.Add(ca.Lasts * 3 / 4)
		clock := func() time.Time { return l.now }
		if _, err := l.meet(must(ca.Config(l.Authority().Bundle(l.now), "head", clock))); err != nil {
			t.Fatalf("at %v: %v", l.now.Sub(start), err)
		}
	}
}

// TestFileOfTheAuthority checks that the file is private and is not overwritten, and that a broken file
// leaves the last authority in use.
func TestFileOfTheAuthority(t *testing.T) {
	l := newLab(t)
	if err := l.Authority().Create(l.path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
	if is := must(os.Stat(l.path)); is.Mode() != 0o600 {
		t.Errorf("the file has the mode %v", is.Mode())
	}
	hash := l.Authority().Hash()
	if err := ca.WriteSecret(l.path, "nothing"); err != nil {
		t.Fatal(err)
	}
	if got := l.Authority().Hash(); got != hash {
		t.Errorf("a broken file changed the authority")
	}
	if _, err := ca.Load(l.path); err == nil {
		t.Error("a broken file was read")
	}
	open := filepath.Join(t.TempDir(), "open.pem")
	if err := errors.Join(l.Authority().Save(open), os.Chmod(open, 0o640)); err != nil {
		t.Fatal(err)
	}
	if _, err := ca.Load(open); err == nil || !strings.Contains(err.Error(), "others could read") {
		t.Errorf("a file that others can read: %v", err)
	}
}

// TestTokens checks that tokens are read as they are written, and pin the authority.
func TestTokens(t *testing.T) {
	l, other := newLab(t), newLab(t)
	token := ca.NewToken(l.Authority().Hash())
	if got, err := ca.ParseToken(token.String() + "\n"); err != nil || got != token {
		t.Errorf("%v, %v", got, err)
	}
	whole := token.String()
	for _, text := range []string{"", "fl-join", whole[:len(whole)-1], strings.Replace(whole, ".", "", 1), whole + ".x"} {
		if _, err := ca.ParseToken(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	if _, err := ca.Pinned(other.Authority().Bundle(start), token.Root); err == nil {
		t.Error("another authority was taken for the one of the token")
	}
	both := other.Authority().Bundle(start) + l.Authority().Bundle(start)
	if got, err := ca.Pinned(both, token.Root); err != nil || got != l.Authority().Bundle(start) {
		t.Errorf("the root of the token is %q, %v", got, err)
	}
}

// TestNames checks that names that could be misread in an identity are refused.
func TestNames(t *testing.T) {
	l := newLab(t)
	request := must(ca.Request(must(ca.NewKey())))
	for _, name := range []string{"", "a/b", "a b", "../x", strings.Repeat("n", 64), "-", "n\n"} {
		if _, err := l.Authority().Node(name, request, start); err == nil {
			t.Errorf("%q got a certificate", name)
		}
	}
	if _, err := ca.New("a/b", start); err == nil {
		t.Error("a cluster may be called a/b")
	}
}

// TestKeysAreRead checks that keys are read as they are written.
func TestKeysAreRead(t *testing.T) {
	key := must(ca.NewKey())
	got, rest, err := ca.DecodeKey(must(ca.EncodeKey(key)) + "rest")
	if err != nil || rest != "rest" || !key.PublicKey.Equal(got.Public()) {
		t.Errorf("%v, %q, %v", got, rest, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
