package slurmtest

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// protocol is the version of the file in which slurmctld keeps what accounts have used, that of
// Slurm 22.05; later ones read it for two years.
const protocol = 38 << 8

// SetUsage says what users have used of accounts, in processor-seconds, by "account/user". For
// real jobs to leave a usage that is known to the second, a test would have to wait for minutes.
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
		file = appendText(file, fmt.Sprintf("1=%f", amount)) // 1 is processors
		file = binary.BigEndian.AppendUint32(file, 0)
	}
	if err := os.WriteFile(s.path("state/assoc_usage"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Restart(t, Controller)
}

// appendText appends a text as Slurm does: its length with the zero at its end, and itself.
func appendText(to []byte, text string) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(text)+1))
	return append(append(to, text...), 0)
}
