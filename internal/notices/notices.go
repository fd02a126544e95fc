// Package notices holds the licenses of the modules in the program, word for word, because most of them
// require that for distribution. The test of this package makes the text from the modules (make licenses),
// and fails if the text no longer agrees with them.
package notices

import _ "embed"

// Text is the whole text.
//
//go:embed notices.txt
var Text string
