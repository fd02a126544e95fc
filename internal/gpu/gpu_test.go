package gpu_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/gpu"
)

func TestTypeOf(t *testing.T) {
	for product, want := range map[string]string{
		"NVIDIA A100-SXM4-80GB": "a100", "NVIDIA A100 80GB PCIe": "a100", "NVIDIA H100 80GB HBM3": "h100",
		"NVIDIA GH200 480GB": "gh200", "Tesla V100-SXM2-16GB": "v100", "Tesla T4": "t4", "NVIDIA L40S": "l40s",
		"NVIDIA GeForce RTX 3090 Ti": "rtx3090ti", "GeForce GTX 1080": "gtx1080", "Quadro RTX 6000": "rtx6000",
		"NVIDIA RTX A6000": "rtxa6000", "NVIDIA GeForce RTX 4070 SUPER": "rtx4070super", "NVIDIA Graphics Device": "", "": "",
		"NVIDIA /:": "",
	} {
		if got := gpu.TypeOf(product); got != want {
			t.Errorf("%q: %q, want %q", product, got, want)
		}
	}
}

// smi puts a program that replaces nvidia-smi into the PATH.
func smi(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestFindByProgram(t *testing.T) {
	for _, c := range []struct{ script, want, err string }{
		{
			`printf '0, NVIDIA A100-SXM4-80GB\n1, NVIDIA A100-SXM4-80GB\n2, Something Else\n'`,
			"[{0 a100} {1 a100} {2 somethingelse}]", "",
		},
		{`echo No devices were found; exit 6`, "[]", ""},
		{`echo "couldn't communicate with the NVIDIA driver" >&2; exit 9`, "[]", "couldn't communicate"},
		{`printf 'x, A\n'`, "[]", "does not begin with the number of a device"},
		{`printf '0, A100\n0, A100\n'`, "[]", "is there twice"},
	} {
		smi(t, c.script)
		all, err := gpu.Nvidia{}.Find(t.Context())
		if fmt.Sprint(all) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v", c.script, all, err)
		}
	}
}

func TestFindByFiles(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	for _, name := range []string{"nvidia10", "nvidia2", "nvidia0", "nvidiactl", "nvidia-uvm", "null"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := (gpu.Nvidia{Dev: dir}).Find(t.Context()); fmt.Sprint(all) != "[{0 } {2 } {10 }]" || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	if all, err := (gpu.Nvidia{Dev: filepath.Join(dir, "none")}).Find(t.Context()); len(all) != 0 || err != nil {
		t.Errorf("without a directory: %v, %v", all, err)
	}
}

func TestNamesOfDevices(t *testing.T) {
	found := []gpu.Device{{ID: "0", Type: "a100"}, {ID: "1", Type: "a100"}, {ID: "2", Type: "h100"}}
	for _, c := range []struct {
		value string
		set   bool
		want  string
	}{{"", false, "0,1,2"}, {"", true, ""}, {"2, 0", true, "2,0"}, {"GPU-af", true, "error"}, {"7", true, "error"}} {
		all, err := gpu.Only(found, gpu.VisibleNames(c.value, c.set))
		got := gpu.Names(all)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%q: %s (%v), want %s", c.value, got, err, c.want)
		}
	}
	all, err := gpu.Numbered(map[string]int64{"gpu:h100": 1, "gpu:a100": 2, "gpu": 1, "tape": 3}, nil)
	if fmt.Sprint(all) != "[{0 } {1 a100} {2 a100} {3 h100}]" || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	if got := gpu.Capacity(all); !maps.Equal(got, map[string]int64{"gpu": 1, "gpu:a100": 2, "gpu:h100": 1}) {
		t.Errorf("capacity %v", got)
	}
	if all, err := gpu.Numbered(map[string]int64{"gpu": 2}, []string{"GPU-x", "GPU-y", "GPU-z"}); gpu.Names(
		all) != "GPU-x,GPU-y" || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	for _, bad := range []map[string]int64{{"gpu": 2}, {"gpu": 1 << 40}} {
		if _, err := gpu.Numbered(bad, []string{"0"}); err == nil {
			t.Errorf("%v is no error", bad)
		}
	}
}

// TestPoolNeverGivesTwice takes devices and returns them in random orders. It checks that no device has two
// tasks, that all come back, and that a task that requests a type gets it.
func TestPoolNeverGivesTwice(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		all, _ := gpu.Numbered(map[string]int64{"gpu": rng.Int64N(3), "gpu:a": rng.Int64N(4), "gpu:b": rng.Int64N(3)}, nil)
		p := gpu.NewPool(all)
		owner := map[string]bool{}
		var held [][]gpu.Device
		for range 500 {
			if i := rng.IntN(2 + len(held)); i < len(held) {
				for _, d := range held[i] {
					delete(owner, d.ID)
				}
				p.Give(held[i])
				held = slices.Delete(held, i, i+1)
				continue
			}
			request := map[string]int64{"cpu": 1, "gpu": rng.Int64N(3), "gpu:a": rng.Int64N(3), "gpu:b": rng.Int64N(2)}
			taken, again := p.Take(request)
			if again != nil {
				if len(taken) > 0 {
					t.Fatalf("seed %d: refused with %v", seed, taken)
				}
				continue
			}
			count := map[string]int64{}
			for _, d := range taken {
				if owner[d.ID] {
					t.Fatalf("seed %d: %s is with two tasks", seed, d.ID)
				}
				owner[d.ID] = true
				count[d.Type]++
			}
			if n := int64(len(taken)); n != max(request["gpu"], request["gpu:a"]+request["gpu:b"]) ||
				count["a"] < request["gpu:a"] || count["b"] < request["gpu:b"] {
				t.Fatalf("seed %d: %v for %v", seed, taken, request)
			}
			held = append(held, taken)
		}
		for _, h := range held {
			p.Give(h)
		}
		if taken, again := p.Take(map[string]int64{"gpu": int64(len(all))}); again != nil || !slices.Equal(taken, all) {
			t.Fatalf("seed %d: at the end %v of %v", seed, taken, all)
		}
	}
}

// TestPoolSparesTypes checks that a request for any GPU gets a GPU without a type, then one of the type with
// most free GPUs.
func TestPoolSparesTypes(t *testing.T) {
	all, _ := gpu.Numbered(map[string]int64{"gpu": 1, "gpu:a": 1, "gpu:b": 2}, nil)
	p := gpu.NewPool(all)
	for _, want := range []string{"", "b", "a"} {
		if taken, _ := p.Take(map[string]int64{"gpu": 1}); len(taken) != 1 || taken[0].Type != want {
			t.Errorf("got %v, want one of type %q", taken, want)
		}
	}
	_, again := p.Take(map[string]int64{"gpu:a": 1})
	if again == nil {
		t.Fatal("there is another one of type a")
	}
	p.Give(all[1:2])
	<-again
	if taken, _ := p.Take(map[string]int64{"gpu:a": 1}); gpu.Names(taken) != "1" {
		t.Errorf("got %v", taken)
	}
	if !gpu.NewPool(nil).Empty() || p.Empty() {
		t.Error("Empty is about what there ever was")
	}
}
