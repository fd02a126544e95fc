package quota_test

import (
	"errors"
	"testing"

	"github.com/fairlead/fairlead/internal/quota"
)

// TestQuota checks that one user leaves enough for others, that users leave the reserve to administrators, and that
// returned units can be taken again.
func TestQuota(t *testing.T) {
	const ann, bob, root = 1000, 1001, 0
	q := &quota.Quota{All: 10, Reserved: 3, User: 4}
	take := func(uid int, admin bool, n int, then error) {
		t.Helper()
		for i := range n {
			if err := q.Take(uid, admin); err != nil {
				t.Fatalf("number %d of %d: %v", i+1, uid, err)
			}
		}
		if err := q.Take(uid, admin); !errors.Is(err, then) {
			t.Fatalf("after %d of %d: %v, want %v", n, uid, err, then)
		}
	}
	take(ann, false, 4, quota.ErrUser)
	take(bob, false, 3, quota.ErrAll)
	take(root, true, 3, quota.ErrAll)
	for range 3 {
		q.Give(root)
	}
	q.Give(ann)
	take(bob, false, 1, quota.ErrUser)
	take(ann, false, 0, quota.ErrAll)
	if q.Held() != 7 {
		t.Errorf("%d are held, want 7", q.Held())
	}
}
