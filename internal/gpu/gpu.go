// Package gpu finds the GPUs of a machine, and hands out their numbers so that no two tasks have the same GPU
// at the same time. The callers decide how a task uses its numbers.
package gpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// Device is one GPU of this machine.
type Device struct {
	ID   string // its number as programs use it, in the order of the bus
	Type string // such as a100; "" if unknown
}

// resource returns the resource as which the device is counted: gpu, or gpu:a100.
func (d Device) resource() string {
	if d.Type == "" {
		return resource
	}
	return resource + ":" + d.Type
}

const resource = "gpu"

// Capacity counts devices by their resources.
func Capacity(devices []Device) map[string]int64 {
	all := map[string]int64{}
	for _, d := range devices {
		all[d.resource()]++
	}
	return all
}

// Numbered makes devices for a capacity that somebody named, such as gpu:a100: 2. They get the given names
// or, without names, numbers from 0, in the order of their types. If names are given, there must be enough.
func Numbered(capacity map[string]int64, names []string) ([]Device, error) {
	var kinds []string
	var count int64
	for name, n := range capacity {
		if base, _, _ := strings.Cut(name, ":"); base == resource {
			kinds, count = append(kinds, name), count+n
		}
	}
	const most = 1024
	if count > most {
		return nil, fmt.Errorf("%d GPUs on one machine are too many; the maximum is %d", count, most)
	}
	if names != nil && int64(len(names)) < count {
		return nil, fmt.Errorf("%d GPUs are to be offered, but %s=%s lets this program use only %d", count, Visible,
			strings.Join(names, ","), len(names))
	}
	slices.Sort(kinds)
	var all []Device
	for _, name := range kinds {
		_, kind, _ := strings.Cut(name, ":")
		for range capacity[name] {
			id := fmt.Sprint(len(all))
			if names != nil {
				id = names[len(all)]
			}
			all = append(all, Device{id, kind})
		}
	}
	return all, nil
}

// Visible is the environment variable that says which devices a program may use. An agent with this variable
// offers only these devices, and tasks find their devices in it.
const Visible = "CUDA_VISIBLE_DEVICES"

// VisibleNames reads the variable; it returns nil if the variable is not set, and an empty list if it names
// no devices.
func VisibleNames(value string, set bool) []string {
	if !set {
		return nil
	}
	names := []string{}
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// TypeOf makes a type from a driver's name for a device. The type is the name of the model without the maker,
// the family and the variant. "NVIDIA A100-SXM4-80GB" gives a100, "NVIDIA GeForce RTX 3090 Ti" gives
// rtx3090ti. It returns "" if nothing remains that could be a name.
func TypeOf(product string) string {
	words := strings.Fields(strings.ToLower(product))
	words = slices.DeleteFunc(words, func(w string) bool {
		return slices.Contains([]string{"nvidia", "tesla", "quadro", "geforce", "graphics", "device"}, w)
	})
	if len(words) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(words[0], "-")
	if !strings.ContainsAny(name, "0123456789") && len(words) > 1 {
		next, _, _ := strings.Cut(words[1], "-")
		name += next
		words = words[1:]
	}
	for _, w := range words[1:] {
		if w == "ti" || w == "super" {
			name += w
		}
	}
	if share.CheckName(name) != nil {
		return ""
	}
	return name
}
