package plot

import _ "embed"

// Script is a script for pages with pictures: it reads values off them under the pointer, and writes these
// into the element with the id value, or one that it adds. Pages say where that looks well.
//
//go:embed read.js
var Script string
