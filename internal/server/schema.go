package server

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/why"
)

// registry names the types of the interface. Types of package why get its name as a prefix, because why.Reason has
// more fields than api.Reason.
func registry() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string {
		name := huma.DefaultSchemaNamer(t, hint)
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if strings.HasSuffix(t.PkgPath(), "/why") {
			name = "Why" + name
		}
		return name
	})
	r.RegisterTypeAlias(reflect.TypeFor[why.Number](), reflect.TypeFor[number]())
	return r
}

// number is the schema of why.Number.
type number struct{}

// Schema implements huma.SchemaProvider.
func (number) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: `A number, or "inf" or "-inf"`,
		OneOf:       []*huma.Schema{{Type: huma.TypeNumber}, {Type: huma.TypeString, Enum: []any{"inf", "-inf"}}},
	}
}
