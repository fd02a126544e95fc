// Package config reads the file in which an administrator sets who is entitled to what and how the server runs. It
// checks the file, writes it in canonical form, and watches it for changes. It neither interprets the values, which is
// the task of packages share, sched and policy, nor uses them: that is up to the caller.
//
// [Parse] reports all problems of a file at once, each with its line, column and an excerpt; if a text is not YAML at
// all, it reports the first one. Tables (fields.go) define the names, kinds, defaults and meanings of the fields. The
// reader, the suggestions, [Config.YAML], [Schema] and [Reference] are made from these tables.
//
// The YAML library parses the text (document.go); its nodes know their places. Scalars stay text until a field decides
// their kind: 0660 means something else to socket_mode than to weight. The package refuses parts of YAML that a
// configuration does not need (merge keys, tags, directives, a second document), and aliases that expand to more than
// the limit. The error names the place. It translates the library's errors into the terms of a configuration
// (syntax.go).
package config
