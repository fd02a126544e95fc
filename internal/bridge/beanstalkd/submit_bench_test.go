//go:build real

package beanstalkd_test

import (
	"testing"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/beanstalkd"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/bridge/worktest"
	"github.com/fairlead/fairlead/internal/brokertest"
)

func adapter(address string) bridge.QS {
	return beanstalkd.Open(beanstalkd.Options{Address: address, Tube: "jobs"})
}

// BenchmarkSubmit measures how fast the bridge puts jobs, and compares it with a plain client that puts the
// same messages.
func BenchmarkSubmit(b *testing.B) {
	for _, who := range []string{"bridge", "client"} {
		b.Run(who, func(b *testing.B) {
			server := brokertest.NewBeanstalkd(b)
			s := worktest.Job(1)
			text, err := mq.NewTask(&s).Encode()
			if err != nil {
				b.Fatal(err)
			}
			c, err := beanstalk.Dial("tcp", server.Address)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			q := adapter(server.Address)
			defer q.Close()
			all := make([]bridge.Submission, 100)
			for i := range all {
				all[i] = worktest.Job(i)
			}
			b.ResetTimer()
			for n := 0; n < b.N; n += len(all) {
				if who == "bridge" {
					if _, err := q.Submit(b.Context(), all); err != nil {
						b.Fatal(err)
					}
					continue
				}
				for range all {
					if _, err := c.Put(text, 5, 0, time.Minute); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}
