package config

import (
	"encoding/json"
	"maps"
	"strconv"
)

// Schema returns the JSON Schema (draft 2020-12) of the file, for editors. It is made from the tables that [Parse]
// uses.
func Schema() []byte {
	root := fileTable.schema()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "fairlead configuration"
	defs := object{}
	for _, t := range tables() {
		if t != fileTable {
			defs[t.name] = t.schema()
		}
	}
	root["$defs"] = defs
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("config: " + err.Error())
	}
	return text
}

// schema describes the fields of a table. It allows null as well, unless a field is required.
func (t *table) schema() object {
	properties, must := object{}, []string{}
	for _, f := range t.fields {
		if f.hidden {
			continue
		}
		s := maps.Clone(f.schema())
		s["description"] = f.doc
		if f.def != "" {
			s["default"] = f.standard().value()
		}
		properties[f.name] = s
		if f.must {
			must = append(must, f.name)
		}
	}
	s := object{"description": t.doc, "type": []string{"object", "null"}, "properties": properties,
		"additionalProperties": false}
	if len(must) > 0 {
		s["type"], s["required"] = "object", must
	}
	return s
}

// value returns what a YAML reader makes of a node.
func (n *node) value() any {
	switch n.kind {
	case mapping:
		m := object{}
		for i, k := range n.keys {
			m[k.text] = n.items[i].value()
		}
		return m
	case list:
		l := []any{}
		for _, item := range n.items {
			l = append(l, item.value())
		}
		return l
	case nothing:
		return nil
	}
	return n.scalarValue()
}

func (n *node) scalarValue() any {
	if n.quoted {
		return n.text
	}
	if n.text == "true" || n.text == "false" {
		return n.text == "true"
	}
	if v, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return v
	}
	if v, err := strconv.ParseFloat(n.text, 64); err == nil && v-v == 0 {
		return v
	}
	return n.text
}
