// Package config reads the file in which an administrator says who is entitled to what
// and how the server runs; it checks it, writes it in canonical form, and follows its
// changes. What the values mean is left to packages share, sched and policy, and what
// is done with them to the caller.
//
// [Parse] reports all problems of a file at once, each with its line, column and a
// picture; of a text that is no YAML at all, the first. The names, kinds, defaults and
// meanings of the fields stand in tables (fields.go), from which the reader, the
// suggestions, [Config.YAML], [Schema] and [Reference] are made.
//
// The text is read by a scanner of our own (scan.go), which takes a part of YAML: block
// and flow collections, texts with and without quotes, comments, and so all of JSON. It
// has no anchors, tags, or texts over several lines. It reads every byte once, in memory
// proportional to the text, refuses what is nested too deep where it stands, and says
// in the words of a configuration what is wrong. General readers fail at that: in the
// one that the tests compare with (goccy/go-yaml), time grows with the square of the
// number of pools, of blank lines in a text block and of tabs in quotes, so that a file
// of 1 MiB could keep a server busy for minutes.
package config
