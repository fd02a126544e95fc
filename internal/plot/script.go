package plot

import _ "embed"

// Script is a script for pages with pictures: it reads values off them under the pointer, and writes these
// into the element with the id value, or into one that it adds. Pages place the element.
//
//go:embed read.js
var Script string
