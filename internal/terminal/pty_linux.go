package terminal

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Open returns the two ends of a pseudo-terminal of this size: one for a person, and one for a program.
func Open(width, height int) (person, program *os.File, err error) {
	person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(person.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = SetSize(person, width, height)
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		person.Close()
		return nil, nil, err
	}
	return person, program, nil
}

// SetSize changes the size of a pseudo-terminal; programs on it receive SIGWINCH.
func SetSize(person *os.File, width, height int) error {
	return unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(width), Row: uint16(height)})
}
