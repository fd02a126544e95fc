//go:build real

package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/api"
)

// TestRealSignIn checks that a browser sees nothing at the server's own address until it opens an address that a user
// of the socket has requested. Then it has the rights of that user on the command line, until the user signs out or the
// server ends.
func TestRealSignIn(t *testing.T) {
	l := newLab(t, cluster)
	jobs := example(l)
	b := browse(t)
	shows := func(words string) string {
		return fmt.Sprintf("document.querySelector('main').textContent.includes(%q)", words)
	}
	b.do(chromedp.Navigate(l.web + "/"))
	b.until(shows("fairlead dashboard"))
	if text := eval[string](b, "document.body.innerText"); strings.Contains(text, "markov") ||
		strings.Contains(text, "physics") {
		t.Errorf("without a session it shows: %s", text)
	}
	b.forget("401")
	signIn := func() {
		t.Helper()
		link, err := l.client.SignIn(t.Context(), api.SignInRequest{Admin: true})
		if err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.Navigate(link.Address))
		b.until(`location.pathname === "/" && document.getElementById("status").dataset.state === "live"`)
		b.do(chromedp.Navigate(link.Address)) // a second time: the code is used up
		b.until(shows("was used before"))
		b.forget("401")
	}
	signIn()
	if got := eval[string](b, "document.cookie"); got != "" {
		t.Errorf("scripts of the page read the cookie %q", got)
	}
	b.open(fmt.Sprint(l.web, "/jobs/", jobs["neutro3"]))
	eval[bool](b, "([...document.querySelectorAll('[data-ask]')].find((e) => e.textContent === 'Hold').click(), true)")
	b.until("document.getElementById('ask').open")
	eval[bool](b, "(document.querySelector('#ask button.main').click(), true)")
	b.until("document.querySelector('#head .state').dataset.state === 'held'")
	b.do(chromedp.EmulateViewport(390, 800))
	if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("on a telephone the page is %d points wide", wide)
	}
	b.do(chromedp.EmulateViewport(1280, 800))

	// An open page reports the end of its session, and continues with a new one.
	if _, err := l.client.SignOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.until("document.getElementById('problem').textContent.includes('signed out')")
	other, err := l.client.SignIn(t.Context(), api.SignInRequest{Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(other.Address, l.web)
	eval[bool](b, fmt.Sprintf("(fetch(%q), true)", path))
	b.until("document.getElementById('status').dataset.state === 'live' && document.getElementById('problem').hidden")
	b.forget("401")

	eval[bool](b, "(document.querySelector('form[action$=logout] button').click(), true)")
	b.until(shows("you have signed out"))
	b.do(chromedp.Navigate(l.web + "/queue"))
	b.until(shows("fairlead dashboard"))
	b.forget("401")
	b.clean(l.web)
}
