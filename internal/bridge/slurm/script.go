package slurm

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/queue"
)

// script returns the script that Slurm runs for a job, and its arguments.
func script(j *queue.Job) ([]byte, []string) {
	if !j.Script {
		return []byte(command), j.Argv
	}
	text := j.Payload
	if !bytes.HasPrefix(text, []byte("#!")) {
		text = append([]byte("#!/bin/sh\n"), text...)
	}
	var args []string
	if len(j.Argv) > 0 {
		args = j.Argv[1:]
	}
	return mask(text), args
}

// command is a script that runs its arguments.
const command = "#!/bin/sh\nexec \"$@\"\n"

// directives are the beginnings of lines that sbatch reads as options.
var directives = []string{"#SBATCH", "#PBS", "#BSUB"}

// mask turns lines before the first command that sbatch would read as options into comments. Their requests were
// translated when the job was submitted. As options they could do things that the user may not do, because sbatch runs
// with the rights of the bridge, and has options that read files or run a job as another user.
func mask(text []byte) []byte {
	var out bytes.Buffer
	rest := text
	for len(rest) > 0 {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		line := string(rest[:end])
		if trimmed := strings.TrimSpace(line); trimmed != "" && trimmed[0] != '#' {
			break
		}
		for _, d := range directives {
			if strings.HasPrefix(line, d) {
				out.WriteByte('#')
			}
		}
		out.WriteString(line)
		rest = rest[end:]
	}
	out.Write(rest)
	return out.Bytes()
}

// withArguments returns the script of a request with its arguments in it, because slurmrestd 22.05 crashes
// when it gets arguments.
func withArguments(r *request) []byte {
	if len(r.args) == 0 {
		return r.script
	}
	var words strings.Builder
	for _, a := range r.args {
		words.WriteString(" '" + strings.ReplaceAll(a, "'", `'\''`) + "'")
	}
	if bytes.Equal(r.script, []byte(command)) {
		return []byte("#!/bin/sh\nexec" + words.String() + "\n")
	}
	// The name of the request is unique, so no line of the script equals this end mark.
	end := "end-of-" + r.name
	return fmt.Appendf(nil, "#!/bin/sh\nf=$(mktemp) || exit 126\ncat >\"$f\" <<'%s'\n%s\n%s\n"+
		"chmod 700 \"$f\"\n\"$f\"%s\nr=$?\nrm -f \"$f\"\nexit $r\n", end, r.script, end, words.String())
}
