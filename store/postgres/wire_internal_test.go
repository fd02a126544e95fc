package postgres

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// TestChangesOfManyKinds fills every field of changes at random, with few and with different values, and expects to
// read them back, including fields that somebody will add later.
func TestChangesOfManyKinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		want := make([]queue.Change, 1+rng.IntN(20))
		for i := range want {
			random(rng, reflect.ValueOf(&want[i]).Elem())
		}
		text, err := encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(text)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if a, b := fmt.Sprintf("%+v", got[i]), fmt.Sprintf("%+v", want[i]); a != b {
				t.Fatalf("change %d:\n got %s\nwant %s", i, a, b)
			}
		}
		cut := text[:rng.IntN(len(text))]
		if _, err := decode(cut); err == nil && len(cut) > 0 {
			t.Fatalf("a text that is cut off after %d of %d bytes was read", len(cut), len(text))
		}
	}
}

// random fills a value. Empty lists and maps are nil, because the encoding does not distinguish the two.
func random(rng *rand.Rand, v reflect.Value) {
	if _, ok := v.Interface().(time.Time); ok {
		if n := rng.IntN(3); n > 0 {
			v.Set(reflect.ValueOf(time.Unix(int64(n), int64(rng.IntN(3)))))
		}
		return
	}
	n := rng.IntN(3)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			random(rng, v.Field(i))
		}
	case reflect.Slice:
		if n == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			random(rng, v.Index(i))
		}
	case reflect.Map:
		if n > 0 {
			v.Set(reflect.ValueOf(queue.Amounts{"cpu": int64(n)}).Convert(v.Type()))
		}
	case reflect.String:
		v.SetString([]string{"", "ann", "größer"}[n])
	case reflect.Bool:
		v.SetBool(n == 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n) * 1000)
	case reflect.Uint8:
		v.SetUint(uint64(n))
	case reflect.Float64:
		v.SetFloat(float64(n) / 4)
	default:
		panic("a field of the kind " + v.Kind().String() + ": say how it is filled")
	}
}

// TestChangesAreShort: the changes for jobs of a few users that begin to wait take only some bytes each.
func TestChangesAreShort(t *testing.T) {
	var all []queue.Change
	now := time.Unix(1_800_000_000, 123_456_000)
	for i := range 1000 {
		h := queue.Header{ID: 1_000_000 + int64(i), User: fmt.Sprint("user", i%10), Pool: fmt.Sprint("pool", i%10),
			Kind: "thumbnail", Tasks: 1, Submitted: now, Request: queue.Amounts{"cpu": 1}}
		all = append(all, queue.Change{What: queue.Waited, Job: h, Waits: []queue.Waits{{Tasks: 1}}, At: now})
	}
	text, err := encode(all)
	if err != nil || len(text) > 8*len(all) {
		t.Errorf("%d changes take %d bytes, want at most 8 each; %v", len(all), len(text), err)
	}
}
