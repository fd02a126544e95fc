package linear

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Encode writes calls as lines of JSON.
func Encode(calls []*Call) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	for _, c := range calls {
		if err := e.Encode(c); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// ReadCalls reads calls that [Encode] wrote. If a call was written twice, when it began and when it ended, the last
// line counts; the writer may have been killed in the middle of a line. A missing file has no calls.
func ReadCalls(file string) (calls []*Call, err error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	type name struct{ client, n int }
	at := map[name]int{}
	for line := range bytes.Lines(text) {
		k := &Call{}
		if json.Unmarshal(line, k) != nil {
			continue
		}
		if i, known := at[name{k.Client, k.N}]; known {
			calls[i] = k
			continue
		}
		at[name{k.Client, k.N}] = len(calls)
		calls = append(calls, k)
	}
	return calls, nil
}

// keep writes all calls of a history to a file.
func keep(calls []*Call, dir string) (string, error) {
	text, err := Encode(calls)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "calls.jsonl")
	return file, os.WriteFile(file, text, 0o600)
}
