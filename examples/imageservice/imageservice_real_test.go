//go:build real

package main

import (
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/pgtest"
)

var (
	flood = flag.Int("flood", 5000, "images that the large tenant submits")
	paced = flag.Duration("paced", 15*time.Second, "how long the small tenants submit theirs")
)

// TestRealImageService runs the service with three servers on a PostgreSQL, and wants that the
// small tenants hardly notice that the large one floods it.
func TestRealImageService(t *testing.T) {
	program := filepath.Join(t.TempDir(), "imageservice")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), program, "-db", pgtest.Own(t), "-flood", fmt.Sprint(*flood), "-time", paced.String(), "-rush", "100", "-patience", "20s", "-check", "-floor", "250ms").CombinedOutput()
	t.Logf("\n%s", out)
	if err != nil {
		t.Error(err)
	}
}
