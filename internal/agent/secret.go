package agent

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// identityFile holds the secret that proves that a node belongs to this agent. The agent stores it, so that
// an agent that was killed can have its node back at once. An agent in another directory must wait until the
// first agent counts as lost.
const identityFile = "identity"

// ownSecret reads the secret of the directory, or makes it. The caller holds the lock of the directory.
// ownSecret never follows a link.
func ownSecret(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Lstat(identityFile)
	if err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s in the directory of the agent is not a regular file; remove it, and start "+
			"the agent again", identityFile)
	}
	if err == nil {
		text, err := root.ReadFile(identityFile)
		if id := strings.TrimSpace(string(text)); err != nil || len(id) >= len(rand.Text()) {
			return id, err
		} // a shorter text was cut off when the machine failed: make a new secret
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	id := rand.Text()
	return id, replaceIn(root, identityFile, id+"\n")
}

// replaceIn writes a file that only its owner may read, completely or not at all.
func replaceIn(root *os.Root, name, text string) error {
	next := name + ".new"
	if err := root.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return root.Rename(next, name)
}
