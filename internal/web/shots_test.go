//go:build real

package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestRealShots takes pictures of all pages for somebody to look at, in the directory that
// FAIRLEAD_SHOTS names.
func TestRealShots(t *testing.T) {
	dir := os.Getenv("FAIRLEAD_SHOTS")
	if dir == "" {
		t.Skip("FAIRLEAD_SHOTS names no directory")
	}
	l := newLab(t, cluster)
	jobs := example(l)
	b := browse(t)
	for name, path := range map[string]string{"now": "/", "pool": "/pool?pool=physics", "leaf": "/pool?pool=biology/epi", "user": "/pool?user=markov", "act": fmt.Sprint("/act?verb=cancel&job=", jobs["soil"], "&job=", jobs["fit"]), "boost": "/act?verb=boost&pool=physics", "queue": "/queue", "all": "/queue?list=all&q=cpu:>9", "job": fmt.Sprint("/jobs/", jobs["neutro3"], "?t=3600"), "running": fmt.Sprint("/jobs/", jobs["soil"]), "machines": "/machines", "drain": "/machines/drain?node=n1", "policy": "/policy", "edit": "/policy/edit", "log": fmt.Sprint("/jobs/", jobs["soil"], "/log")} {
		if name == "edit" || name == "drain" {
			b.do(chromedp.Navigate(l.url + path)) // they do not change by themselves
		} else {
			b.open(l.url + path)
		}
		b.shot(filepath.Join(dir, name+"-light.png"), 1280, false)
		b.shot(filepath.Join(dir, name+"-dark.png"), 1280, true)
		b.shot(filepath.Join(dir, name+"-phone.png"), 390, false)
	}
	b.clean(l.url)
}
