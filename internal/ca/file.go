package ca

import (
	"crypto"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Save writes the authority to a file that only its user can read: the key, the root, the root as an older
// root signed it, and the older roots. It replaces the file as a whole.
func (a *Authority) Save(path string) error {
	text, err := EncodeKey(a.key)
	if err != nil {
		return err
	}
	text += encode(a.root) + encode(a.crossed...) + encode(a.older...)
	return WriteSecret(path, text)
}

// Create writes the authority, and fails if the file exists.
func (a *Authority) Create(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	return a.Save(path)
}

// WriteSecret replaces a file by one that only its user can read.
func WriteSecret(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // with the mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// ReadSecret reads a file, and fails if other users can read it.
func ReadSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	is, err := f.Stat()
	if err != nil {
		return "", err
	}
	if is.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s has the mode %#o: others could read or write the key; "+
			"if nobody has, change it with chmod 600", path, is.Mode().Perm())
	}
	text, err := io.ReadAll(f)
	return string(text), err
}

// Load reads a file that [Authority.Save] wrote.
func Load(path string) (*Authority, error) {
	text, err := ReadSecret(path)
	if err != nil {
		return nil, err
	}
	a, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

func parse(text string) (*Authority, error) {
	key, rest, err := DecodeKey(text)
	if err != nil {
		return nil, err
	}
	all, err := decode(rest)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 || !all[0].IsCA || !selfSigned(all[0]) || len(all[0].URIs) != 1 {
		return nil, errors.New("no root certificate of fairlead follows the key")
	}
	public, is := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !is || !public.Equal(all[0].PublicKey) {
		return nil, errors.New("the key does not belong to the root certificate")
	}
	a := &Authority{cluster: all[0].URIs[0].Host, key: key, root: all[0]}
	for _, c := range all[1:] {
		if selfSigned(c) {
			a.older = append(a.older, c)
		} else {
			a.crossed = append(a.crossed, c)
		}
	}
	return a, nil
}
