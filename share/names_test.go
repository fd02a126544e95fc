package share

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestCleanNameStays fixes the clean names of some texts: stores hold such names, and configurations use them.
func TestCleanNameStays(t *testing.T) {
	long := strings.Repeat("x", 65)
	for text, want := range map[string]string{
		"ann": "ann", "a.b-c_d@e+f": "a.b-c_d@e+f", "José": "José", "default": "default",
		"a b": "a=20b", "a/b": "a=2Fb", "a_b": "a_b", "cust:42": "cust=3A42", "cust_42": "cust_42",
		"a=b": "a=3Db", "a=20b": "a=3D20b", "=": "=3D", `CORP\ann`: "CORP=5Cann",
		"": "_", "_": "=5F", "__": "__", " ": "=20", ".": "=2E", "..": "=2E.", "...": "...",
		"\xff": "=FF", "\uFFFD": "=EF=BF=BD", "a€b": "a=E2=82=ACb",
		long[:64]:                   long[:64],
		long:                        long[:30] + "==9537c5fdf120482f7d58d25e9ed583f5",
		strings.Repeat("x ", 32):    "",
		strings.Repeat("é", 40):     "",
		strings.Repeat("é", 32):     strings.Repeat("é", 32),
		strings.Repeat("/", 22)[1:]: strings.Repeat("=2F", 21),
	} {
		got := CleanName(text)
		if want != "" && got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if err := CheckName(got); err != nil {
			t.Errorf("%q becomes %q: %v", text, got, err)
		}
	}
	for user, want := range map[string]string{"": "default", "default": "=64efault", "_": "=5F", "ann": "ann", "a b": "a=20b"} {
		if got := UserPool(user); got != want {
			t.Errorf("the pool of %q is %q, want %q", user, got, want)
		}
	}
}

// anyUser draws names that are likely to become the same.
func anyUser() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{"a", "b", "_", "=", "==", " ", "/", ":", ".", "2", "0", "20", "F", "é", "€", "\xff", "\xc3", "\uFFFD", "default", strings.Repeat("x", 30), "=64efault", "=5F"})
	return rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(part, 0, 6), func(s []string) string { return strings.Join(s, "") }),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 100), func(b []byte) string { return string(b) }))
}

func TestUsersShareNoPool(t *testing.T) {
	placement, err := NewPlacementRules([]Rule{{Pool: "x/{user}"}})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyUser().Draw(t, "a"), anyUser().Draw(t, "b")
		for _, name := range []func(string) string{
			CleanName, UserPool, func(u string) string { path, _ := placement.Place(Origin{User: u}); return path },
		} {
			if err := CheckPath(name(a)); err != nil {
				t.Fatalf("%q becomes %q: %v", a, name(a), err)
			}
			if (name(a) == name(b)) != (a == b) {
				t.Fatalf("%q and %q become %q and %q", a, b, name(a), name(b))
			}
		}
	})
}

// TestTwiceCleaned: a user whose name is the clean name of another user has a pool of their own.
func TestTwiceCleaned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyUser().Draw(t, "a")
		if once := UserPool(a); a != "" && once != a && UserPool(once) == once {
			t.Fatalf("%q and %q have the pool %q", a, once, once)
		}
	})
}

func TestUserOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		user := anyUser().Draw(t, "user")
		got, ok := UserOf(UserPool(user))
		if short := !strings.Contains(UserPool(user), hashMark); user != "" && ok != short || ok && got != user {
			t.Fatalf("the pool %q of %q is said to be that of %q, %v", UserPool(user), user, got, ok)
		}
	})
	for _, name := range []string{"a=b", "a=2", "a=3d", "=", "==", "default", "_", "=61", "=5F_"} {
		if user, ok := UserOf(name); ok {
			t.Errorf("%q is the pool of %q", name, user)
		}
	}
}

func TestRenamed(t *testing.T) {
	for _, c := range []struct{ path, user, want string }{
		{"a_b", "a b", "a=20b"}, {"a_b", "a/b", "a=2Fb"}, {"lab/a_b", "a b", "lab/a=20b"}, {"a_b/render", "a b", "a=20b/render"},
		{"a_b/a_b", "a b", "a_b/a=20b"}, {"lab/default", "default", "lab/=64efault"},
		{"a_b", "a_b", ""}, {"a_b", "a c", ""}, {"default", "", ""}, {"_", "", ""}, {"_", "_", "=5F"}, {"ann", "ann", ""}, {"x_a_b", "a b", ""},
	} {
		got, ok := Renamed(c.path, c.user)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s of %q becomes %q, %v; want %q", c.path, c.user, got, ok, c.want)
		}
	}
}
