package main

import (
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/share"
)

// maxGPUs limits one number of GPUs, so that sums do not overflow.
const maxGPUs = 1 << 40

// addGPUs adds GPUs in the notation for agents and jobs: 2, or a100:2.
func addGPUs(to map[string]int64, gpus []string) error {
	for _, text := range gpus {
		resource, count := "gpu", text
		if kind, n, typed := strings.Cut(text, ":"); typed {
			resource, count = "gpu:"+kind, n
		}
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 0 || n > maxGPUs || share.CheckResource(resource) != nil {
			return usagef("--gpus: %q is not a number of GPUs, such as 2, or a100:2 for two of a type", text)
		}
		to[resource] += n // also sets 0, which differs from none: shares may be counted in GPUs
	}
	return nil
}
