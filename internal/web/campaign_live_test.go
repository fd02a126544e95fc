//go:build campaign

package web_test

import (
	"testing"
	"time"
)

// TestCampaignPageIsLive checks that a new job is on the page within two seconds. A machine that stalls for a moment is
// not the fault of the product, so the test uses the median of five jobs.
func TestCampaignPageIsLive(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	b := browse(t)
	b.open(l.url + "/queue")
	_, took := newcomers(l, b)
	t.Logf("figure: jobs that are submitted are on the page after %v", took)
	if took[2] > 2*time.Second {
		t.Errorf("jobs that are submitted are on the page after %v", took)
	}
	b.clean(l.url)
}
