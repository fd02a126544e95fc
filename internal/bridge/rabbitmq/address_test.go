package rabbitmq

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/queue"
)

// TestAddressKeepsItsPassword checks that errors about an address do not contain the user or the password in
// it.
func TestAddressKeepsItsPassword(t *testing.T) {
	for _, address := range []string{
		"amqp://ann:sec%zzret@127.0.0.1:1/", "amqp://ann:secret@[::1/", "http://ann:secret@h/", "amqp://ann:secret@h:port/",
	} {
		_, err := parse(address)
		if !errors.Is(err, queue.ErrInvalid) || strings.Contains(err.Error(), "sec") || strings.Contains(err.Error(), "ann") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if uri, err := parse("amqp://ann:secret@h:1/v"); err != nil || uri.Password != "secret" {
		t.Errorf("a good one: %v", err)
	}
}
