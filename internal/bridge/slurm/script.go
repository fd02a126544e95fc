package slurm

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/queue"
)

// script is what a job has Slurm run, and its arguments.
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

// command is the script that runs its arguments.
const command = "#!/bin/sh\nexec \"$@\"\n"

// directives are the beginnings of lines that sbatch takes for options.
var directives = []string{"#SBATCH", "#PBS", "#BSUB"}

// mask makes comments of what sbatch would read as options, before the first command. What
// they ask for was translated when the job was submitted. Read again, they could do what the job's user
// may not: sbatch runs with the rights of the bridge, and there are options to read files and
// to run as somebody else.
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

// withArguments is the script of a request with its arguments in it: slurmrestd 22.05 crashes
// when it is given arguments.
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
	// No line of the script is the name of this one.
	end := "end-of-" + r.name
	return fmt.Appendf(nil, "#!/bin/sh\nf=$(mktemp) || exit 126\ncat >\"$f\" <<'%s'\n%s\n%s\n"+
		"chmod 700 \"$f\"\n\"$f\"%s\nr=$?\nrm -f \"$f\"\nexit $r\n", end, r.script, end, words.String())
}
