package life

import (
	"reflect"
	"testing"

	"github.com/fairlead/fairlead/queue"
)

// TestPlain checks that a spec with any field set is not plain.
func TestPlain(t *testing.T) {
	if !plain(&queue.Job{}) {
		t.Error("a spec that says nothing is not plain")
	}
	for i := range reflect.TypeFor[Spec]().NumField() {
		field := reflect.TypeFor[Spec]().Field(i)
		if field.Name == "Payload" || field.Name == "Requestor" {
			continue // these are stored separately
		}
		var j queue.Job
		set(t, reflect.ValueOf(&j).Elem().FieldByName(field.Name))
		if plain(&j) {
			t.Errorf("a spec with %s is plain", field.Name)
		}
	}
}

// TestSpecText checks that the requestor is read back as it was written, also with a payload that is stored
// separately.
func TestSpecText(t *testing.T) {
	for _, want := range []queue.Job{
		{User: "ann"}, {User: "ann", Requestor: "ann"}, {User: "ann", Requestor: "land.ann"}, {Requestor: "ann"},
		{User: "ann", Requestor: "ann", Nice: 3}, {User: "ann", Nice: 3}, {},
	} {
		want.Payload = []byte("x")
		text, err := SpecText(&want)
		if err != nil {
			t.Fatal(err)
		}
		got := queue.Job{User: want.User, Payload: want.Payload}
		if err := ReadSpec(text, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("of %+v was read %+v (%v)", want, got, err)
		}
	}
}

// set sets a field to a value other than zero.
func set(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x").Convert(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	default:
		t.Fatalf("how is a %s set?", v.Kind())
	}
}
