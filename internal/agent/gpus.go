package agent

import "github.com/fairlead/fairlead/internal/gpu"

// takeGPUs takes the GPUs that a task requests. If they are not free yet, it waits for them, and the task
// begins only when they are free. It returns false if the task was stopped meanwhile.
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
			a.log.Warn("a task waits for a GPU that another task still holds", "task", t.lease.Ref)
		}
		select {
		case <-again:
		case <-t.halted:
			return nil, false
		}
	}
}

// gpuVariables returns the environment variables that name the GPUs of a task. On a machine with GPUs, a task
// that requested none sees none; otherwise it could use the GPUs of other tasks. The numbers follow the order
// of the PCI bus, so CUDA_DEVICE_ORDER has to tell programs to count in this order.
func (m *Machine) gpuVariables(gpus []gpu.Device) map[string]string {
	if m.gpus.Empty() {
		return nil
	}
	names := gpu.Names(gpus)
	return map[string]string{"FAIRLEAD_GPUS": names, gpu.Visible: names, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
}
