package foreign

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of an XML file.
const (
	maxXML      = 1 << 20 // bytes
	maxDepth    = 64
	maxElements = 50_000
)

// element is one element of an XML file with the line on which it begins.
type element struct {
	name     string
	attrs    map[string]string
	text     string // trimmed, without the text of inner elements
	raw      string // the same with the blanks around it
	line     int
	children []*element
}

func (e *element) attr(name string) string { return strings.TrimSpace(e.attrs[name]) }

// treeReader makes elements from the tokens of a file.
type treeReader struct {
	d     *xml.Decoder
	root  *element
	stack []*element
	count int
}

// readXML reads a file within limits. It refuses document types, and thereby all entities that could expand
// to large texts.
func readXML(text string) (*element, error) {
	if len(text) > maxXML {
		return nil, &Error{Msg: fmt.Sprintf("the file is larger than %d MiB", maxXML>>20)}
	}
	r := &treeReader{d: xml.NewDecoder(strings.NewReader(text))}
	r.d.CharsetReader = func(charset string, input io.Reader) (io.Reader, error) {
		if strings.EqualFold(charset, "us-ascii") || strings.EqualFold(charset, "ascii") {
			return input, nil
		}
		return nil, fmt.Errorf("the first line declares the encoding %s; convert the file to UTF-8, and declare UTF-8 there",
			plainText(charset, 40))
	}
	for {
		line, col := r.d.InputPos()
		t, err := r.d.Token()
		if errors.Is(err, io.EOF) && r.root != nil {
			return r.root, nil
		}
		if err == nil {
			err = r.token(t, line)
		}
		if err != nil {
			return nil, r.place(err, line, col)
		}
	}
}

func (r *treeReader) token(t xml.Token, line int) error {
	switch t := t.(type) {
	case xml.Directive:
		return errors.New("document types (<!DOCTYPE ...>) are not supported; remove the line")
	case xml.StartElement:
		return r.open(t, line)
	case xml.EndElement:
		e := r.stack[len(r.stack)-1]
		e.raw, e.text = e.text, strings.TrimSpace(e.text)
		r.stack = r.stack[:len(r.stack)-1]
	case xml.CharData:
		if n := len(r.stack); n > 0 {
			r.stack[n-1].text += string(t)
		} else if strings.TrimSpace(string(t)) != "" {
			return errors.New("there is text outside the elements")
		}
	}
	return nil
}

func (r *treeReader) open(t xml.StartElement, line int) error {
	if r.count++; r.count > maxElements {
		return fmt.Errorf("the file has more than %d elements", maxElements)
	}
	if len(r.stack) >= maxDepth {
		return fmt.Errorf("elements are nested deeper than %d levels", maxDepth)
	}
	e := &element{name: t.Name.Local, line: line}
	for _, a := range t.Attr {
		if e.attrs == nil {
			e.attrs = map[string]string{}
		}
		e.attrs[a.Name.Local] = a.Value
	}
	switch n := len(r.stack); {
	case n > 0:
		r.stack[n-1].children = append(r.stack[n-1].children, e)
	case r.root != nil:
		return errors.New("a second element begins at the top level; the file must be one element")
	default:
		r.root = e
	}
	r.stack = append(r.stack, e)
	return nil
}

// place says where reading failed.
func (r *treeReader) place(err error, line, col int) error {
	var syntax *xml.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return &Error{Line: syntax.Line, Msg: "this is not XML: " + plainText(syntax.Msg, 200)}
	case errors.Is(err, io.EOF):
		return &Error{Line: line, Col: col, Msg: "the file has no element"}
	}
	return &Error{Line: line, Col: col, Msg: strings.TrimPrefix(err.Error(), "xml: ")}
}
