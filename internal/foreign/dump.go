package foreign

import (
	"fmt"
	"strings"
)

// entry is one line of a dump: Account - 'physics':Fairshare=3:GrpTRES=cpu=64
type entry struct {
	line        int
	title, name string
	settings    []setting
}

type setting struct{ name, value string }

// get returns the value of a setting, or "".
func (e *entry) get(name string) string {
	for _, s := range e.settings {
		if strings.EqualFold(s.name, name) {
			return s.value
		}
	}
	return ""
}

// Limits of a dump.
const (
	maxLine    = 64 << 10 // bytes
	maxEntries = 100_000
)

// readDump reads the lines of a dump. sacctmgr(1) describes the format under "flat file dump and load". A
// line has a title, a dash, a name, and settings after colons. Values that contain blanks or colons are
// in quotes of either kind.
func readDump(text string) ([]entry, error) {
	var all []entry
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		e, err := parseEntry(line)
		switch {
		case err != nil:
			return nil, &Error{Line: n, Msg: err.Error()}
		case len(all) >= maxEntries:
			return nil, &Error{Line: n, Msg: fmt.Sprintf("the dump has more than %d lines", maxEntries)}
		}
		e.line = n
		all = append(all, e)
	}
	if len(all) == 0 {
		return nil, &Error{Msg: "the file has no lines of a dump; to write a dump: sacctmgr dump CLUSTER file=NAME"}
	}
	return all, nil
}

// splitTitle splits "Account - 'a':..." into its title and the rest.
func splitTitle(line string) (title, rest string, ok bool) {
	title, rest, ok = strings.Cut(line, "-")
	switch title = strings.TrimSpace(title); title {
	case "Cluster", "Parent", "Account", "Project", "User":
		return title, strings.TrimSpace(rest), ok
	}
	return "", "", false
}

func parseEntry(line string) (entry, error) {
	if len(line) > maxLine {
		return entry{}, fmt.Errorf("the line is longer than %d bytes", maxLine)
	}
	title, rest, ok := splitTitle(line)
	if !ok {
		return entry{}, fmt.Errorf("expected a line such as Account - 'physics':Fairshare=3, got %q", plainText(line, 60))
	}
	e := entry{title: title}
	for i := 0; i == 0 || rest != ""; i++ {
		part, more, err := cutColon(rest)
		if err != nil {
			return e, err
		}
		rest = more
		if i == 0 {
			e.name = unquote(part)
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok && part != "" {
			return e, fmt.Errorf("expected a setting such as Fairshare=3, got %q", plainText(part, 60))
		}
		if part != "" {
			e.settings = append(e.settings, setting{strings.TrimRight(name, "+- "), unquote(value)})
		}
	}
	if e.name == "" {
		return e, fmt.Errorf("the name behind %q is missing", title+" -")
	}
	return e, nil
}

// cutColon cuts a text at the first colon outside quotes.
func cutColon(text string) (part, rest string, err error) {
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '\'' || c == '"':
			quote = c
		case c == ':' && !strings.HasPrefix(text[i-min(i, 8):], "gres/gpu"): // gres/gpu:a100=2 is one value
			return text[:i], text[i+1:], nil
		}
	}
	if quote != 0 {
		return "", "", fmt.Errorf("a quote %c is not closed", quote)
	}
	return text, "", nil
}

func unquote(text string) string {
	text = strings.TrimSpace(text)
	if n := len(text); n >= 2 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}
