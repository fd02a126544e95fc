package slurmtest

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// protocol is the version of the file in which slurmctld stores the usage of accounts: the version of Slurm
// 22.05. Versions of the next two years read it as well.
const protocol = 38 << 8

// SetUsage sets the usage of accounts by users, in CPU-seconds, by "account/user". A test that ran real jobs
// until the usage is known to the second would take minutes.
func (s *Slurm) SetUsage(t testing.TB, used map[string]float64) {
	t.Helper()
	associations := s.Do(t, "sacctmgr", "-n", "-P", "show", "assoc", "format=account,user,id")
	s.Stop(Controller)
	file := binary.BigEndian.AppendUint16(nil, protocol)
	file = binary.BigEndian.AppendUint64(file, uint64(time.Now().Unix()))
	for line := range strings.Lines(associations) {
		f := strings.Split(strings.TrimSpace(line), "|")
		amount, known := used[f[0]+"/"+f[1]]
		if !known {
			continue
		}
		var id uint32
		if _, err := fmt.Sscan(f[2], &id); err != nil {
			t.Fatal(err)
		}
		file = binary.BigEndian.AppendUint32(file, id)
		file = appendText(file, fmt.Sprintf("%f", amount))
		file = appendText(file, fmt.Sprintf("1=%f", amount)) // 1 is the CPU
		file = binary.BigEndian.AppendUint32(file, 0)
	}
	if err := os.WriteFile(s.path("state/assoc_usage"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Restart(t, Controller)
}

// appendText appends a text like Slurm: its length with the final zero, and the text.
func appendText(to []byte, text string) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(text)+1))
	return append(append(to, text...), 0)
}
