// Package plain makes texts of others harmless. Names, notes, reasons and output may hold terminal control
// sequences, or characters that change the direction of text. They may also hold line ends that make one row
// look like two, and cells that a spreadsheet computes.
package plain

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// obeyed reports whether r controls a terminal, or changes how the text around it is shown: control
// characters, invisible characters, and characters that end a line.
func obeyed(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// Line makes one line of a text, and replaces all characters that control a terminal.
func Line(text string) string {
	return strings.Map(func(r rune) rune {
		if obeyed(r) {
			return '?'
		}
		return r
	}, text)
}

// escapes matches the sequences with which programs color their output, and more dangerous ones.
var escapes = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])`)

// Text makes the output of a program harmless to read: it removes colors and other terminal sequences, and
// keeps lines.
func Text(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		rest := strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(rest, '\r'); i >= 0 { // a progress bar overwrites its line
			rest = rest[i+1:]
		}
		out.WriteString(Line(strings.ReplaceAll(escapes.ReplaceAllString(rest, ""), "\t", "    ")))
		if strings.HasSuffix(line, "\n") {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// Cell returns a text for a table that a spreadsheet may open. A spreadsheet treats a text that begins like a
// formula as a formula, so Cell puts a quotation mark before it. Callers do not pass numbers.
func Cell(text string) string {
	r, _ := utf8.DecodeRuneInString(text)
	if text != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", r) {
		return "'" + text
	}
	return text
}

// JSON writes terminal control characters in a document as \u escapes. The document still means the same.
func JSON(document []byte) []byte {
	if bytes.IndexFunc(document, hiddenInJSON) < 0 {
		return document
	}
	var out bytes.Buffer
	for _, r := range string(document) {
		switch {
		case !hiddenInJSON(r):
			out.WriteRune(r)
		case r > 0xffff:
			a, b := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, a, b)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}

func hiddenInJSON(r rune) bool { return obeyed(r) && r != '\n' }

// Lines makes one line of each string in v, which is a pointer. It is for output of several lines in which no
// text may add a line.
func Lines(v any) { lines(reflect.ValueOf(v)) }

func lines(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			lines(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				lines(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			lines(v.Index(i))
		}
	case reflect.Map:
		linesOfMap(v)
	case reflect.String:
		if v.CanSet() {
			v.SetString(Line(v.String()))
		}
	}
}

// linesOfMap replaces the keys and values by their single lines.
func linesOfMap(v reflect.Value) {
	for _, k := range v.MapKeys() {
		key, value := reflect.New(k.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.Set(k)
		value.Set(v.MapIndex(k))
		lines(key)
		lines(value)
		v.SetMapIndex(k, reflect.Value{})
		v.SetMapIndex(key, value)
	}
}
