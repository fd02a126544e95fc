//go:build real

package slurmtest

import (
	"net/http"
	"strings"
	"testing"
)

// TestRealSlurm checks that a job runs, that slurmctld can be restarted and killed without losing saved jobs,
// and that accounts and the REST interface work.
func TestRealSlurm(t *testing.T) {
	s := Start(t, Options{REST: true})
	dir := s.Dir(t, "work")
	s.Accounts(t, map[string][]string{"physics": {"games", "man"}})
	submit := func(args ...string) string {
		return strings.TrimSpace(
			s.Do(t, "sbatch", append([]string{"--parsable", "--uid=games", "-D", dir, "-o", "out"}, args...)...))
	}
	s.Do(t, "sbatch", "--wait", "--uid=games", "-A", "physics", "-D", dir, "-o", "out", "--wrap", "id -un")
	held := submit("--hold", "--wrap", "true")
	s.Restart(t, Controller)
	if got := s.Do(t, "squeue", "-h", "-o", "%i %u"); got != held+" games\n" {
		t.Errorf("after the restart there is %q, want job %s of games", got, held)
	}
	s.Kill(Controller)
	if err := s.Run(Controller); err != nil {
		t.Fatal(err)
	}
	if got := s.Do(t, "squeue", "-h", "-o", "%i"); got != held+"\n" {
		t.Errorf("after the kill there is %q, want job %s", got, held)
	}
	url, token := s.REST(t)
	r, err := http.NewRequestWithContext(t.Context(), "GET", url+"/slurm/v0.0.38/ping", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-SLURM-USER-NAME", "root")
	r.Header.Set("X-SLURM-USER-TOKEN", token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("slurmrestd answers %s", answer.Status)
	}
}
