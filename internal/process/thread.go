//go:build linux

package process

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// ownThread calls f on a thread that ends when f returns. Whatever f does to the thread,
// no other goroutine will ever run with it.
//
// The main thread cannot end, and is where orphans are adopted, see [orphans]. Should it
// be the one at hand, it is kept busy while f has another.
func ownThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			ownThread(f)
			return
		}
		f()
	}()
	<-done
}
