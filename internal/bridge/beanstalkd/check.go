package beanstalkd

import (
	"context"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/queue"
)

// CheckAddress refuses a malformed address of a beanstalkd.
func CheckAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || host == "" || bad != nil || n == 0 {
		return bridge.Explain(queue.ErrInvalid, "%.100q is not an address of beanstalkd, such as %s", address,
			"127.0.0.1:11300")
	}
	return nil
}

// maxTube leaves room in the 200 bytes of a name for the suffixes of the other tubes. The longest suffix ends
// in a marker.
const maxTube = 120

// CheckTube refuses a malformed name of a tube.
func CheckTube(name string) error {
	odd := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+/;.$_()")
	if name == "" || len(name) > maxTube || name[0] == '-' || odd != "" {
		return bridge.Explain(queue.ErrInvalid, "%.200q cannot be a tube: names of tubes hold letters, digits and "+
			"-+/;.$_(), with no - at the beginning; this one may have %d at most, because the names of other tubes begin "+
			"with it", name, maxTube)
	}
	return nil
}

// CheckTTR refuses a time to run that beanstalkd cannot store.
func CheckTTR(d time.Duration) error {
	if d < time.Second || d > math.MaxUint32*time.Second {
		return bridge.Explain(queue.ErrInvalid, "%v must be from 1s to %v", d, math.MaxUint32*time.Second)
	}
	return nil
}

// Describe implements bridge.QS. It changes nothing in beanstalkd.
func (q *Queue) Describe(ctx context.Context) (frontback.Queue, error) {
	d := frontback.Queue{
		Name: fmt.Sprintf("beanstalkd at %s, tube %s", q.options.Address, q.options.Tube),
		Ages: frontback.No, Obeys: frontback.Yes, Lowest: 0, Highest: math.MaxUint32, SmallFirst: true,
	}
	l, err := dial(ctx, q.options.Address)
	if err != nil {
		return d, err
	}
	defer l.close()
	defer l.within(ctx)()
	stats, err := l.Stats()
	if err != nil {
		return d, strange(q.options.Address, err)
	}
	tubes, err := l.ListTubes()
	if err != nil {
		return d, strange(q.options.Address, err)
	}
	d.Notes = notes(&q.options, stats, tubes)
	return d, nil
}

// notes returns hints about a server.
func notes(o *Options, stats map[string]string, tubes []string) []string {
	var all []string
	if !slices.Contains(tubes, o.Tube) {
		all = append(
			all,
			fmt.Sprintf("the tube %s does not exist: beanstalkd makes it, and other tubes whose names begin with it, when the "+
				"bridge or a worker first uses them", o.Tube))
	}
	if stats["binlog-current-index"] == "0" {
		all = append(all, "beanstalkd writes no binlog: it loses its jobs when it ends, and the bridge submits them "+
			"again; start it with -b DIR -f0")
	}
	if stats["draining"] == "true" {
		all = append(all, "beanstalkd drains: it takes no jobs until it is restarted")
	}
	return all
}
