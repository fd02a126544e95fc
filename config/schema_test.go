package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/golden"
)

func TestSchema(t *testing.T)    { golden.Check(t, "testdata/schema.json", string(config.Schema())) }
func TestReference(t *testing.T) { golden.Check(t, "testdata/reference.md", config.Reference()) }

// validator implements the part of JSON Schema that our schema uses. It panics on other keywords.
type validator struct{ root map[string]any }

func newValidator(t *testing.T) validator {
	t.Helper()
	var v validator
	if err := json.Unmarshal(config.Schema(), &v.root); err != nil {
		t.Fatal(err)
	}
	return v
}

// check returns the error of a value, or "".
func (v validator) check(schema map[string]any, value any, at string) string {
	for _, keyword := range slices.Sorted(func(yield func(string) bool) {
		for k := range schema {
			if !yield(k) {
				return
			}
		}
	}) {
		if wrong := v.keyword(schema, keyword, value, at); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (v validator) keyword(schema map[string]any, keyword string, value any, at string) string {
	arg := schema[keyword]
	number, isNumber := value.(float64)
	text, isText := value.(string)
	object, isObject := value.(map[string]any)
	array, isArray := value.([]any)
	bad := false
	switch keyword {
	case "$schema", "$defs", "title", "description", "default", "examples":
	case "$ref":
		name := strings.TrimPrefix(arg.(string), "#/$defs/")
		return v.check(v.root["$defs"].(map[string]any)[name].(map[string]any), value, at)
	case "type":
		bad = !hasType(arg, value)
	case "enum":
		bad = !slices.ContainsFunc(arg.([]any), func(x any) bool { return reflect.DeepEqual(x, value) })
	case "minimum":
		bad = isNumber && number < arg.(float64)
	case "maximum":
		bad = isNumber && number > arg.(float64)
	case "exclusiveMinimum":
		bad = isNumber && number <= arg.(float64)
	case "maxLength":
		bad = isText && float64(utf8.RuneCountInString(text)) > arg.(float64)
	case "pattern":
		bad = isText && !regexp.MustCompile(arg.(string)).MatchString(text)
	case "minProperties":
		bad = isObject && float64(len(object)) < arg.(float64)
	case "maxProperties":
		bad = isObject && float64(len(object)) > arg.(float64)
	case "maxItems":
		bad = isArray && float64(len(array)) > arg.(float64)
	case "required":
		bad = isObject && slices.ContainsFunc(arg.([]any), func(name any) bool { _, ok := object[name.(string)]; return !ok })
	case "anyOf":
		bad = !slices.ContainsFunc(arg.([]any), func(s any) bool { return v.check(s.(map[string]any), value, at) == "" })
	case "items":
		for i, item := range array {
			if wrong := v.check(arg.(map[string]any), item, fmt.Sprintf("%s[%d]", at, i)); wrong != "" {
				return wrong
			}
		}
	case "properties", "additionalProperties":
		return v.properties(schema, keyword, object, at)
	default:
		panic("unknown keyword " + keyword)
	}
	if bad {
		return fmt.Sprintf("%s: %v violates %s %v", at, value, keyword, arg)
	}
	return ""
}

func (v validator) properties(schema map[string]any, keyword string, object map[string]any, at string) string {
	known, _ := schema["properties"].(map[string]any)
	for name, value := range object {
		s, ok := known[name].(map[string]any)
		if keyword == "additionalProperties" {
			if ok {
				continue
			}
			if s, ok = schema[keyword].(map[string]any); !ok {
				return at + "." + name + " is not known"
			}
		}
		if ok {
			if wrong := v.check(s, value, at+"."+name); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

func hasType(types, value any) bool {
	if list, ok := types.([]any); ok {
		return slices.ContainsFunc(list, func(t any) bool { return hasType(t, value) })
	}
	switch value := value.(type) {
	case nil:
		return types == "null"
	case bool:
		return types == "boolean"
	case string:
		return types == "string"
	case float64:
		return types == "number" || types == "integer" && value == float64(int64(value))
	case []any:
		return types == "array"
	}
	return types == "object"
}

// TestSchemaAgrees compares the schema with the reader: the schema has to accept every file that the reader accepts,
// and to refuse each file whose form alone is wrong.
func TestSchemaAgrees(t *testing.T) {
	v := newValidator(t)
	for _, c := range []struct {
		text string
		want bool
	}{
		{string(config.Default().YAML()), true},
		{example(t), true},
		{"half_life: 0\nserver: {retention: 0, listen: ['localhost:1', '[::1]:2']}", true},
		{"half_life: none\ntask_time: 1.5h\npools: {a: {min: {mem: 1.5G}, max: {mem: 4GiB, cpu: 8}}, b: null}", true},
		{"pools: {a: {share: 30%}, b: {share: 70%}}\nserver:\nplacement:\n", true},
		{"server: {lease: 0:01:00, retention: 2-12:00:00}\nbackfill: easy", true},
		{"polcy: fair", false},
		{"policy: fare", false},
		{"half_life: 15", false},
		{"half_life: 1x", false},
		{"pools: {a: {weight: -1}}", false},
		{"pools: {a: {weight: '3'}}", false},
		{"pools: {a: {pools: {b: {max_running: -1}}}}", false},
		{"pools: {a: {load: 30%}}", true},
		{"pools: {a: {min: {cpu: -1}}}", false},
		{"placement: [{user: a}]", false},
		{"placement: [{pool: a, usr: b}]", false},
		{"priorities: {}", false},
		{"licenses: {a: 0}", false},
		{"rates: {a: 5}", false},
		{"rates: {a: 5/s, b: {rate: 10/m, burst: 3, kinds: [x, y]}, c: {rate: 1/d, kinds: z}}", true},
		{"rates: {a: {burst: 3}}", false},
		{"rates: {a: {rate: 5/s, burst: 0}}", false},
		{"server: {listen: 0.0.0.0:80}", false},
		{"server: {socket_mode: rw}", false},
		{"pools_on_demand: yes", false},
	} {
		if _, err := config.Parse("f", []byte(c.text)); (err == nil) != c.want {
			t.Errorf("%q: Parse says %v", c.text, err)
		}
		if wrong := v.check(v.root, values(t, c.text), ""); (wrong == "") != c.want {
			t.Errorf("%q: the schema says %q", c.text, wrong)
		}
	}
}

// values reads a text as an editor would.
func values(t *testing.T, text string) (v any) {
	t.Helper()
	if err := yaml.Load([]byte(text), &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	asJSON, err := json.Marshal(v) // numbers in JSON are all of one type
	if err == nil {
		v = nil
		err = json.Unmarshal(asJSON, &v)
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// TestReferenceHasAll looks up the names of the example, which has every field.
func TestReferenceHasAll(t *testing.T) {
	schema, page := string(config.Schema()), config.Reference()
	for _, line := range strings.Split(example(t), "\n") {
		name, _, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.ContainsAny(name, "{- ") || slices.Contains([]string{"physics", "biology", "land", "/"}, name) {
			continue
		}
		if !strings.Contains(schema, `"`+name+`": {`) || !strings.Contains(page, "| `"+name+"` |") {
			t.Errorf("%s is missing in the schema or in the reference", name)
		}
	}
	if _, err := os.Stat("testdata/schema.json"); err != nil {
		t.Error(err)
	}
}
