package sqlite

import (
	"encoding/json"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// catalog maps the pools and the requests to their numbers.
type catalog struct {
	pools      map[string]int64
	paths      map[int64]string
	requestIDs map[string]int64
	requests   map[int64]queue.Amounts
}

// numbers are the numbers of pools and of requests, as a transaction knows them.
type numbers struct {
	known *catalog // before the transaction
	conn  *sqlite.Conn
	now   time.Time

	pools      map[string]int64 // new in this transaction
	makers     map[int64]string // of the new pools
	requestIDs map[string]int64
}

// pool returns the number of a pool, and creates a missing pool for the user "maker".
func (n *numbers) pool(path, maker string) (int64, error) {
	before := len(n.pools)
	id, err := n.intern(path, n.known.pools, &n.pools, `INSERT INTO pool (path, since) VALUES (?, ?)`, life.Nanos(n.now))
	if err != nil || maker == "" || len(n.pools) == before {
		return id, err
	}
	if n.makers == nil {
		n.makers = map[int64]string{}
	}
	n.makers[id] = maker
	b := binder{stmt: n.conn.Prep(`UPDATE pool SET maker = ? WHERE id = ?`)}
	return id, exec(b.text(maker).int64(id).stmt)
}

// requestID returns the number of a request.
func (n *numbers) requestID(request queue.Amounts) (int64, error) {
	text, err := json.Marshal(request) // names come out sorted
	if err != nil {
		return 0, err
	}
	return n.intern(string(text), n.known.requestIDs, &n.requestIDs, `INSERT INTO shape (request) VALUES (?)`)
}

func (n *numbers) intern(text string, known map[string]int64, added *map[string]int64, insert string, more ...int64) (int64, error) {
	if id, ok := known[text]; ok {
		return id, nil
	}
	if id, ok := (*added)[text]; ok {
		return id, nil
	}
	b := binder{stmt: n.conn.Prep(insert)}
	b.text(text)
	for _, v := range more {
		b.int64(v)
	}
	if err := exec(b.stmt); err != nil {
		return 0, err
	}
	if *added == nil {
		*added = map[string]int64{}
	}
	id := n.conn.LastInsertRowID()
	(*added)[text] = id
	return id, nil
}

// request returns the request with a number, which may be from this transaction.
func (n *numbers) request(id int64) queue.Amounts {
	if r, ok := n.known.requests[id]; ok {
		return r
	}
	for text, n := range n.requestIDs {
		if n == id {
			return parseRequest(text)
		}
	}
	return nil
}

func (n *numbers) path(id int64) string {
	if p, ok := n.known.paths[id]; ok {
		return p
	}
	for path, n := range n.pools {
		if n == id {
			return path
		}
	}
	return ""
}

func parseRequest(text string) queue.Amounts {
	var a queue.Amounts
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		panic("sqlite store: request " + text + ": " + err.Error())
	}
	return a
}
