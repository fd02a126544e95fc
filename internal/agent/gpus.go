package agent

import "github.com/fairlead/fairlead/internal/gpu"

// takeGPUs takes the GPUs that a task asks for, and waits if they have not come back yet; until
// then the task does not begin. It returns false if the task was stopped meanwhile.
func (a *Agent) takeGPUs(t *task) ([]gpu.Device, bool) {
	if a.gpus.Empty() {
		return nil, true
	}
	for told := false; ; told = true {
		taken, again := a.gpus.Take(t.lease.Job.Request)
		if again == nil {
			return taken, true
		}
		if !told {
			a.log.Warn("a task waits for a GPU that another one has still", "task", t.lease.Ref)
		}
		select {
		case <-again:
		case <-t.halted:
			return nil, false
		}
	}
}

// gpuVariables are the environment variables that tell the programs of a task its GPUs. On a machine that
// has GPUs, a task that asked for none sees none: it would use the GPUs of others. The
// numbers follow the bus; programs count in this order only if they are told so.
func (m *Machine) gpuVariables(gpus []gpu.Device) map[string]string {
	if m.gpus.Empty() {
		return nil
	}
	names := gpu.Names(gpus)
	return map[string]string{"FAIRLEAD_GPUS": names, gpu.Visible: names, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
}
