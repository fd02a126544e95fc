package web

// field is a parameter that a form keeps.
type field struct{ Name, Value string }

// sortLink links to another view of the page's data; On marks the present view.
type sortLink struct {
	Name, Link string
	On         bool
}
