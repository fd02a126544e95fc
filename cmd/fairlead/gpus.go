package main

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/share"
)

// mostGPUs bounds how many are named at once, so that their sum can be counted.
const mostGPUs = 1 << 40

// addGPUs adds GPUs as they are written for agents and jobs: 2, or a100:2.
func addGPUs(to map[string]int64, gpus []string) error {
	for _, text := range gpus {
		resource, count := "gpu", text
		if kind, n, typed := strings.Cut(text, ":"); typed {
			resource, count = "gpu:"+kind, n
		}
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 0 || n > mostGPUs || share.CheckResource(resource) != nil {
			return usagef("--gpus: %q is not a number of GPUs, such as 2, or a100:2 for two of a type", text)
		}
		if n > 0 {
			to[resource] += n
		}
	}
	return nil
}

// devices are the GPUs that an agent offers: those that were said, or those that there are.
// What cannot be found out is not offered, and does not keep the agent from running.
func (w *agentOptions) devices(ctx context.Context, log *slog.Logger) ([]gpu.Device, error) {
	names := gpu.VisibleNames(os.LookupEnv(gpu.Visible))
	if len(w.gpus) > 0 {
		said := map[string]int64{}
		if err := addGPUs(said, w.gpus); err != nil {
			return nil, err
		}
		all, err := gpu.Numbered(said, names)
		if err != nil {
			return nil, usagef("--gpus: %w", err)
		}
		return all, nil
	}
	if w.finder == nil {
		return nil, nil
	}
	all, err := w.finder.Find(ctx)
	if err == nil {
		all, err = gpu.Only(all, names)
	}
	if err != nil {
		log.Warn("no GPUs are offered; say with --gpus how many there are, or --gpus 0", "error", err)
		return nil, nil
	}
	if len(all) > 0 {
		log.Info("found GPUs", "devices", gpu.Names(all))
	}
	return all, nil
}
