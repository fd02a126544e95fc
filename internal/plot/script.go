package plot

import _ "embed"

// Script is a script for pages with pictures. It reads the values under the pointer off the pictures. It
// writes them into the element with the id "value", or into an element that it adds. Pages place the
// element.
//
//go:embed read.js
var Script string
