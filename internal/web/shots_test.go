//go:build real

package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/golden"
)

// pictures is the folder of the pictures in the documentation.
const pictures = "../../docs/images"

// TestRealPictures opens all pages in light mode, in dark mode, at the width of a phone and at the width of a wall
// screen, and checks that nothing is wider than the screen. With -update it writes the pictures of the documentation;
// it writes all others into the directory FAIRLEAD_SHOTS, if set.
func TestRealPictures(t *testing.T) {
	l := newLab(t, cluster, pastDay)
	jobs := example(l)
	b := browse(t)
	keep := map[string]bool{"now-light": true, "queue-dark": true, "pool-light": true, "job-light": true,
		"job-phone": true, "act-light": true}
	for name, path := range map[string]string{
		"now": "/", "kiosk": "/?kiosk", "queue": "/queue", "all": "/queue?list=all&q=cpu:>9", "pool": "/pool?pool=physics", "leaf": "/pool?pool=biology/epi", "user": "/pool?user=markov",
		"act": fmt.Sprint("/act?verb=cancel&job=", jobs["soil"], "&job=",
			jobs["fit"]), "boost": "/act?verb=boost&pool=physics", "pause": "/act?verb=pause&pool=physics",
		"range": "/pool?pool=physics&with=biology&since=" + time.Now().Add(-9*time.Hour).UTC().Format(time.RFC3339) +
			"&until=" + time.Now().Add(-3*time.Hour).UTC().Format(time.RFC3339),
		"job": fmt.Sprint("/jobs/", jobs["neutro3"], "?t=3600"), "running": fmt.Sprint("/jobs/",
			jobs["soil"]), "log": fmt.Sprint("/jobs/", jobs["soil"], "/log"), "error": "/jobs/99",
		"machines": "/machines", "drain": "/machines/drain?node=n1", "policy": "/policy", "edit": "/policy/edit", "weights": "/policy/weights?w.physics=30", "fold": "/queue?fold=user", "missing": "/nothing",
		"submit": "/submit", "usage": "/usage",
	} {
		if name != "error" && name != "missing" {
			b.open(l.url + path)
		} else {
			b.do(chromedp.Navigate(l.url + path))
			b.forget("404")
		}
		looks(b, name, keep)
	}
	if _, err := l.client.Pools.Pause(t.Context(),
		api.PauseRequest{Pool: "biology/env", ForSeconds: 7200, Reason: "the file server is being moved"}); err != nil {
		t.Fatal(err)
	}
	b.open(l.url + "/pool?pool=biology/env")
	looks(b, "paused", keep)
	b.clean(l.url)
}

// looks takes a picture of a page in each form.
func looks(b *tab, name string, keep map[string]bool) {
	b.t.Helper()
	for _, look := range []struct {
		name  string
		width int64
		dark  bool
	}{{"light", 1280, false}, {"dark", 1280, true}, {"phone", 390, false}, {"wall", 2560, true}} {
		dir := b.t.TempDir()
		switch shots := os.Getenv("FAIRLEAD_SHOTS"); {
		case *golden.Update && keep[name+"-"+look.name]:
			dir = pictures
		case shots != "":
			dir = shots
		}
		b.shot(filepath.Join(dir, "dashboard-"+name+"-"+look.name+".png"), look.width, look.dark)
		if wide := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
			b.t.Errorf("%s at %d pixels is %d too wide", name, look.width, wide)
		}
	}
}
