package beanstalkd_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge/beanstalkd"
	"github.com/fairlead/fairlead/queue"
)

// TestNames checks that names and addresses that beanstalkd would not take are refused without asking it.
func TestNames(t *testing.T) {
	for name, good := range map[string]bool{
		"fairlead": true, "a-b+c/d;e.f$g_(h)": true, strings.Repeat("x", 120): true,
		"": false, "-x": false, "a b": false, "a\n": false, "jöbs": false, strings.Repeat("x", 121): false,
	} {
		if err := beanstalkd.CheckTube(name); (err == nil) != good || err != nil && !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("tube %q: %v", name, err)
		}
	}
	for address, good := range map[string]bool{
		"127.0.0.1:11300": true, "[::1]:11300": true, "queue.example.org:1": true,
		"": false, "host": false, ":11300": false, "host:": false, "host:0": false, "host:65536": false, "host:x": false,
		"http://host:11300": false,
	} {
		if err := beanstalkd.CheckAddress(address); (err == nil) != good {
			t.Errorf("address %q: %v", address, err)
		}
	}
	for d, good := range map[time.Duration]bool{
		time.Second: true, 1000 * time.Hour: true, 0: false, -time.Second: false, time.Millisecond: false,
		2_000_000 * time.Hour: false,
	} {
		if err := beanstalkd.CheckTTR(d); (err == nil) != good {
			t.Errorf("time %v: %v", d, err)
		}
	}
}
