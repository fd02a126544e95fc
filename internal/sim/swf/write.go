package swf

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// Write writes comments and lines that [Read] reads.
func Write(w io.Writer, comments []string, records []Record) error {
	out := bufio.NewWriterSize(w, 1<<16)
	for _, c := range comments {
		out.WriteString("; " + strings.Join(strings.Fields(c), " ") + "\n")
	}
	var line []byte
	for i := range records {
		line = records[i].append(line[:0])
		out.Write(append(line, '\n'))
	}
	return out.Flush()
}

func (r *Record) append(line []byte) []byte {
	for i := range table {
		if i > 0 {
			line = append(line, ' ')
		}
		if i == cpuField {
			line = strconv.AppendFloat(line, r.CPU, 'f', -1, 64)
			continue
		}
		line = strconv.AppendInt(line, table[i].get(r), 10)
	}
	return line
}
