//go:build campaign

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
	flood = flag.Int("flood", 10_000, "images that the large tenant submits")
	paced = flag.Duration("paced", 20*time.Second, "how long the small tenants submit theirs")
	from  = flag.Int("from", 800, "width of the large images")
	slots = flag.Int("slots", 1, "images that each server works on at once")
)

// TestCampaignImageService runs the service with three servers on a PostgreSQL, and checks that the small
// tenants hardly notice the flood of the large one.
func TestCampaignImageService(t *testing.T) {
	program := filepath.Join(t.TempDir(), "imageservice")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The small tenants ask for so few images that they stay within their shares even on a busy machine, and the bound
	// has a floor for such moments.
	out, err := exec.CommandContext(t.Context(), program, "-db", pgtest.Own(t), "-flood", fmt.Sprint(*flood), "-rate", "2",
		"-time", paced.String(),
		"-from", fmt.Sprint(*from), "-slots", fmt.Sprint(*slots), "-rush", "200", "-patience", "20s", "-check", "-floor", "500ms").CombinedOutput()
	t.Logf("\n%s", out)
	if err != nil {
		t.Error(err)
	}
}
