package web

// field is a parameter that a form keeps.
type field struct{ Name, Value string }

// sortLink leads to another view of what a page shows; On says that it is the one shown.
type sortLink struct {
	Name, Link string
	On         bool
}
