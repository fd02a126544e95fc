//go:build real

package web_test

import "testing"

// TestRealHealth loses a node while a page is open, and gets it back: the open page shows the loss without a reload,
// and then nothing.
func TestRealHealth(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	b := browse(t)
	b.open(l.url + "/")
	b.until(`document.getElementById("troubles").innerText.trim() === ""`)
	l.lose("n9")
	b.until(`document.querySelector("#troubles [data-check='lost nodes']")?.innerText.includes("n9")`)
	b.picture(t, "health")
	b.clean(l.url)
	l.node("n9", map[string]int64{"cpu": 1})
	b.until(`document.getElementById("troubles").innerText.trim() === ""`)
	b.clean(l.url)
}
