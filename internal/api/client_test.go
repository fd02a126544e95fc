package api_test

import (
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

// TestDial: a socket is found by its path, including a path relative to the working directory.
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
	for _, address := range []string{"", "unix://", "localhost:1", "127.0.0.1:1/x", "http://a/b", "https://localhost:1", "[::1]:7447", "ftp://x"} {
		if _, err := api.Dial(address); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
	for _, address := range []string{"nobody.sock", "/nowhere/at/all"} {
		c, err := api.Dial(address)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Call(t.Context(), http.MethodGet, "/", nil, nil); !errors.Is(err, api.ErrUnreachable) || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
