package config

import (
	"fmt"
	"strings"
)

// Reference returns a page in Markdown about all fields of the file. It is made from the tables that [Parse] uses.
func Reference() string {
	var b strings.Builder
	for _, t := range tables() {
		t.reference(&b)
	}
	return b.String() + values
}

// values describes how the kinds of values are written.
const values = `## Values

* A **duration** has units: ` + "`90s`, `1h30m`, `7d`, `2d12h`, `1.5h`, or `1:30:00` (hours, minutes, seconds) and `2-12:00:00`" + `
  (with days). The units are w, d, h, m, s, ms, us and ns. A number alone is refused, except 0.
* An **amount** is a whole number, or one with K, M, G, T or P, which are powers of 1024: ` + "`8`, `4G`, `1536M`" + `.
* A **regular expression** has to match the whole value. Its syntax is RE2's.
* A **rate** is a number per second, minute, hour or day: ` + "`5/s`, `100/m`, `20/h`, `3/d`" + `.
* **Names** of pools, priorities and resources hold letters, digits and . _ - @ + =. The order of names means
  nothing; the order of rules does.

The file is YAML, or JSON, which is YAML. Merge keys, tags, directives and several documents are refused. So is a file
of more than 1 MiB.
`

func (t *table) reference(b *strings.Builder) {
	title := "The file"
	if t.name != "" {
		title = "`" + t.name + "`"
	}
	fmt.Fprintf(b, "## %s\n\n%s\n\n| field | value | default | meaning |\n|---|---|---|---|\n", title, t.doc)
	for _, f := range t.fields {
		if !f.hidden {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.name, cell(f.word), f.defaultCell(), cell(f.doc))
		}
	}
	b.WriteString("\n")
}

// defaultCell describes the effective value if the field is missing.
func (f *field) defaultCell() string {
	switch {
	case f.must:
		return "required"
	case f.unless != "":
		return f.unless
	case f.def == "" || f.def == "{}":
		return ""
	}
	return "`" + cell(f.def) + "`"
}

// cell escapes the character that ends the cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
