package life

import (
	"reflect"
	"testing"

	"github.com/fairlead/fairlead/queue"
)

// TestPlain: a spec that says anything is not taken for one that says nothing, whichever of its
// fields says it.
func TestPlain(t *testing.T) {
	if !plain(&queue.Job{}) {
		t.Error("a spec that says nothing is not plain")
	}
	for i := range reflect.TypeFor[Spec]().NumField() {
		field := reflect.TypeFor[Spec]().Field(i)
		if field.Name == "Payload" || field.Name == "Requestor" {
			continue // are kept apart
		}
		var j queue.Job
		set(t, reflect.ValueOf(&j).Elem().FieldByName(field.Name))
		if plain(&j) {
			t.Errorf("a spec with %s is plain", field.Name)
		}
	}
}

// TestSpecText: the requestor is read again as it was, and so is a payload that is kept apart.
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

// set gives a field another value than its zero.
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
