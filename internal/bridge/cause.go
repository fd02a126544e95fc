package bridge

import (
	"errors"
	"net"
	"os"
)

// Cause is the text of an error of a connection, without the address, which the message around it
// names, and without the system call.
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
