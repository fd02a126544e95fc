// Package plain makes harmless what others chose: names, notes, reasons and output may hold
// sequences that a terminal obeys, characters that turn the text around them, ends of lines
// that make one row look like two, and cells that a spreadsheet computes.
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

// obeyed reports whether a terminal may obey r, or show the text around it otherwise because
// of it: control characters, invisible characters, and characters that end a line.
func obeyed(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// Line makes one line of a text, with nothing in it that a terminal would obey.
func Line(text string) string {
	return strings.Map(func(r rune) rune {
		if obeyed(r) {
			return '?'
		}
		return r
	}, text)
}

// escapes are the sequences with which programs colour their output, and worse ones.
var escapes = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])`)

// Text makes what a program printed harmless to read: colours and other sequences for a
// terminal go, lines stay.
func Text(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		rest := strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(rest, '\r'); i >= 0 { // a bar of progress writes over itself
			rest = rest[i+1:]
		}
		out.WriteString(Line(strings.ReplaceAll(escapes.ReplaceAllString(rest, ""), "\t", "    ")))
		if strings.HasSuffix(line, "\n") {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// Cell is a text for a table that a spreadsheet may open: it takes for a formula what begins
// like one, so a quotation mark goes in front. Numbers are not given here.
func Cell(text string) string {
	r, _ := utf8.DecodeRuneInString(text)
	if text != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", r) {
		return "'" + text
	}
	return text
}

// JSON writes as \u what a terminal would obey in a document, which is the same document then.
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

// Lines makes one line of each string that v, a pointer, holds: for output of several
// lines to which nobody else may add one.
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
