package bridge

import (
	"errors"
	"net"
	"os"
)

// Cause reduces an error of a connection to its cause, without the system call and without the address, which
// the message around it names.
func Cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
}
