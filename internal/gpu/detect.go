package gpu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Finder finds the GPUs of a machine. A machine without GPUs is no error. An error says why GPUs cannot be
// found.
type Finder interface {
	Find(ctx context.Context) ([]Device, error)
}

// Nvidia finds GPUs by the program nvidia-smi, which knows their types or, without that program, by their
// device files. It never reports a GPU that neither shows.
type Nvidia struct {
	Dev string // directory of device files; default: /dev
}

// patience is how long nvidia-smi may take. It is long because nvidia-smi waits for drivers that are just
// being loaded.
const patience = 20 * time.Second

// Find implements Finder.
func (n Nvidia) Find(ctx context.Context) ([]Device, error) {
	program, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return n.files()
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--query-gpu=index,name", "--format=csv,noheader")
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(out.String() + errs.String())
		if strings.Contains(said, "No devices were found") {
			return nil, nil
		}
		return nil, fmt.Errorf("nvidia-smi: %w: %.200s", err, said)
	}
	return parse(out.String())
}

// parse reads lines such as "0, NVIDIA A100-SXM4-80GB".
func parse(text string) ([]Device, error) {
	var all []Device
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line == "No devices were found" {
			continue
		}
		index, name, _ := strings.Cut(line, ",")
		if _, err := strconv.ParseUint(index, 10, 16); err != nil {
			return nil, fmt.Errorf("nvidia-smi: %.100q does not begin with the number of a device", line)
		}
		if slices.ContainsFunc(all, func(d Device) bool { return d.ID == index }) {
			return nil, fmt.Errorf("nvidia-smi: device %s is there twice", index)
		}
		all = append(all, Device{index, TypeOf(name)})
	}
	return all, nil
}

// files finds devices by their files, nvidia0 and so on.
func (n Nvidia) files() ([]Device, error) {
	dir := n.Dev
	if dir == "" {
		dir = "/dev"
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for GPUs: %w", err)
	}
	var numbers []uint64
	for _, e := range entries {
		text, yes := strings.CutPrefix(filepath.Base(e.Name()), "nvidia")
		if number, err := strconv.ParseUint(text, 10, 16); yes && err == nil {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	var all []Device
	for _, number := range numbers {
		all = append(all, Device{ID: fmt.Sprint(number)})
	}
	return all, nil
}

// Only returns the named devices; nil names all. A name that is not the number of a device is an error.
func Only(devices []Device, names []string) ([]Device, error) {
	if names == nil {
		return devices, nil
	}
	var kept []Device
	for _, name := range names {
		i := slices.IndexFunc(devices, func(d Device) bool { return d.ID == name })
		if i < 0 {
			return nil, fmt.Errorf("%s names %s, which is not the number of a GPU of this machine", Visible, name)
		}
		kept = append(kept, devices[i])
	}
	return kept, nil
}
