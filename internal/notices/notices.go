// Package notices holds the licences of the modules that are part of the program, word for word, as most of them
// ask of whoever passes the program on. The text is made from the modules themselves by the test of this package
// (make licenses), which also fails when it is not that of the modules any more.
package notices

import _ "embed"

// Text is all of it.
//
//go:embed notices.txt
var Text string
