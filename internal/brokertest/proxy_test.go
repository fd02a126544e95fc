package brokertest_test

import (
	"io"
	"net"
	"testing"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/brokertest"
)

// TestHeldBytesStayInOrder checks that bytes that a client sends on a held connection after Pass come after
// its earlier bytes, and that the broker reads all of them, and answers, before it learns that the
// client has gone.
func TestHeldBytesStayInOrder(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		io.WriteString(c, "an answer that nobody reads")
		text, err := io.ReadAll(c)
		if err != nil {
			text = []byte(err.Error())
		}
		heard <- string(text)
	}()
	p := brokertest.NewProxy(t, l.Addr().String())
	p.Hold()
	c, err := net.Dial("tcp", p.Address)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, "first, ")
	await.True(t, "the first half was kept", func() bool { return p.Lost("first, ") })
	held := p.Pass()
	io.WriteString(c, "second")
	c.Close()
	held.Release(func() bool { return true })
	if got := <-heard; got != "first, second" {
		t.Errorf("the broker read %q", got)
	}
}
