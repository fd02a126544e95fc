package beanstalkd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/bridge"
)

// CheckAddress says what is wrong with the address of a beanstalkd.
func CheckAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || host == "" || bad != nil || n == 0 {
		return bridge.Explain(fairlead.ErrInvalid, "%.100q is no address of a beanstalkd, such as %s", address, "127.0.0.1:11300")
	}
	return nil
}

// maxTube leaves room in the 200 bytes of a name for the tubes that are called after it, the
// longest of which ends in a marker.
const maxTube = 120

// CheckTube says what is wrong with the name of a tube.
func CheckTube(name string) error {
	odd := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+/;.$_()")
	if name == "" || len(name) > maxTube || name[0] == '-' || odd != "" {
		return bridge.Explain(fairlead.ErrInvalid, "%.200q cannot be a tube: beanstalkd takes letters, digits and -+/;.$_(), with no - at the beginning; and it may have %d of them, as other tubes are called after it", name, maxTube)
	}
	return nil
}

// CheckTTR says what is wrong with a time to run.
func CheckTTR(d time.Duration) error {
	if d < time.Second || d > math.MaxUint32*time.Second {
		return bridge.Explain(fairlead.ErrInvalid, "%v is to be between 1s and %v", d, math.MaxUint32*time.Second)
	}
	return nil
}

// Describe implements bridge.QS. It changes nothing there.
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

// notes are what is good to know of a server.
func notes(o *Options, stats map[string]string, tubes []string) []string {
	var all []string
	if !slices.Contains(tubes, o.Tube) {
		all = append(all, fmt.Sprintf("the tube %s is not there: beanstalkd makes it when the bridge or a worker first uses it, and those that are called after it", o.Tube))
	}
	if stats["binlog-current-index"] == "0" {
		all = append(all, "beanstalkd writes no binlog: what it has is lost when it ends, and the bridge submits that again; start it with -b DIR -f0")
	}
	if stats["draining"] == "true" {
		all = append(all, "beanstalkd drains and takes no jobs until it is started again")
	}
	return all
}

// strange explains an error after which a connection is of no use: it was lost, or what answers is
// no beanstalkd.
func strange(address string, err error) error {
	var outside net.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), answered(err):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.As(err, &outside):
		return bridge.Explain(err, "the connection to beanstalkd at %s was lost", address)
	}
	return bridge.Explain(err, "what listens at %s does not answer as beanstalkd does: is this its port? It is 11300 if it was not given another with -p", address)
}
