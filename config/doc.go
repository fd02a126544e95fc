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
// The text is read by the YAML library (document.go), whose nodes know their places.
// Its scalars are kept as text until a field says what kind of value it wants: 0660
// means something else to socket_mode than to weight. What a configuration has no use
// for is refused at its place (merge keys, tags, directives, a second document), as is
// what would stand for more than a file has room for. The library's complaints are put
// in the words of a configuration (syntax.go).
package config
