package words

import (
	"os/exec"
	"testing"
)

// TestShellQuoted checks that a shell reads every word unchanged.
func TestShellQuoted(t *testing.T) {
	for _, word := range []string{"", "disk", "the disk is full", "it's", "a`b`", "$HOME", `back\slash`, "tab\there", "line\nline", "#1", "~", "x=1,2", "!!"} {
		out, err := exec.Command("sh", "-c", "printf %s. "+ShellQuoted(word)).Output()
		if err != nil || string(out) != word+"." {
			t.Errorf("%q came back as %q, %v", word, out, err)
		}
	}
}
