package api_test

import (
	"net"
	"net/http"
	"os"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

// TestDial: a socket is found by its path, also by one that begins where we are.
func TestDial(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"s.sock", "sub/s.sock"} {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"x": 1}`)) })}
		go s.Serve(l)
		defer s.Close()
	}
	for _, address := range []string{"s.sock", "./s.sock", "sub/s.sock", "unix://sub/s.sock"} {
		c, err := api.Dial(address)
		if err != nil {
			t.Fatal(err)
		}
		var out struct{ X int }
		if err := c.Call(t.Context(), http.MethodGet, "/", nil, &out); err != nil || out.X != 1 {
			t.Errorf("%s: %v, %+v", address, err, out)
		}
		c.Close()
	}
	if _, err := api.Dial("https://localhost:1"); err == nil {
		t.Error("https is taken")
	}
	for _, address := range []string{"localhost:1", "127.0.0.1:1/x", "http://a/b"} {
		if c, err := api.Dial(address); err != nil {
			t.Errorf("%s: %v", address, err)
		} else if err := c.Call(t.Context(), http.MethodGet, "/", nil, nil); err == nil {
			t.Errorf("%s answers", address)
		}
	}
}
