//go:build linux

package process

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// ownThread calls f on a thread that ends when f returns. Whatever f changes in the thread, no other
// goroutine will ever run on it.
//
// The main thread cannot end, and adopts the orphans, see [orphans]. If the goroutine runs on the main
// thread, ownThread keeps that thread busy while f runs on another one.
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
