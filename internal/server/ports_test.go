package server

import (
	"bytes"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
)

// TestPortOfAnother: if another user has the port, the log and doctor report an error, and the server continues. Nobody
// gets an address with a sign-in code that leads there. The server takes the port when it is free.
func TestPortOfAnother(t *testing.T) {
	d := newDesk(t)
	var log bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&log, nil))
	me := access.Principal{Kind: access.User, Name: "ann", UID: 1000, Via: access.BySocket}
	synctest.Test(t, func(t *testing.T) {
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := taken.Addr().String()
		p, err := d.Listen(address)
		if err != nil || p.Missing() == nil || p.Addr().String() != address {
			t.Fatalf("%+v, %v", p, err)
		}
		if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), address) {
			t.Errorf("the log says %s", log.String())
		}
		d.addresses.listen(p)
		if portOf(Authenticated{Listener: nodeListener{p, nil}}) != p {
			t.Error("of a port for nodes it is not seen that it is missing")
		}
		expect(t, []api.HealthCheck{d.services.doctor.examiner.checkAccess()}, "access", api.ResultFail,
			"it cannot listen on "+address+" (address already in use)")
		w := d.answerOf(me, http.MethodPost, "/v1/sign-in", api.SignInRequest{})
		if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "may be another user's") {
			t.Errorf("status %d, %s", w.Code, w.Body)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := p.get()
			ended <- err
		}()
		time.Sleep(3 * portAgain)
		synctest.Wait()
		if p.Missing() == nil || len(ended) > 0 {
			t.Errorf("there are two on one port: %v", p.Missing())
		}
		taken.Close()
		time.Sleep(portAgain)
		synctest.Wait()
		if p.Missing() != nil {
			t.Fatalf("the port is free: %v", p.Missing())
		}
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		in, err := p.Accept()
		if err != nil || <-ended != nil {
			t.Fatalf("it does not accept: %v", err)
		}
		in.Close()
		var link api.SignInResponse
		if status := d.send(me, http.MethodPost, "/v1/sign-in", api.SignInRequest{}, &link); status != http.StatusOK ||
			!strings.HasPrefix(link.Address, "http://"+address+"/login") {
			t.Errorf("status %d, %+v", status, link)
		}
		expect(t, []api.HealthCheck{d.services.doctor.examiner.checkAccess()}, "access", api.ResultOK, address)
		p.Close()
		if _, err := p.Accept(); err == nil {
			t.Error("it accepts after its end")
		}
	})
}

// TestPortIsGivenUp: a server that ends stops waiting for a port, and does not take it later.
func TestPortIsGivenUp(t *testing.T) {
	d := newDesk(t)
	synctest.Test(t, func(t *testing.T) {
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Listen(taken.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := p.Accept()
			ended <- err
		}()
		synctest.Wait()
		p.Close()
		if err := <-ended; err == nil {
			t.Error("it accepts")
		}
		taken.Close()
		if p.try(); p.Missing() == nil {
			t.Error("it has taken the port after its end")
		}
	})
	for _, wrong := range []string{"127.0.0.1:99999", "127.0.0.1", "127.0.0.1:no such service"} {
		if p, err := d.Listen(wrong); err == nil {
			t.Errorf("%s is tried again: %+v", wrong, p)
		}
	}
}
