package postgres

import (
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/store/internal/life"
)

// knownPools are the numbers of pools that earlier transactions have read or created. They never change.
type knownPools struct {
	mu    sync.Mutex
	ids   map[string]int32
	paths map[int32]string
}

func newKnownPools() *knownPools {
	return &knownPools{ids: map[string]int32{}, paths: map[int32]string{}}
}

func (k *knownPools) id(path string) (id int32, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id, known = k.ids[path]
	return id, known
}

func (k *knownPools) path(id int32) (path string, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	path, known = k.paths[id]
	return path, known
}

// add adds the pools that a transaction has read or created.
func (k *knownPools) add(ids map[string]int32) {
	if len(ids) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for path, id := range ids {
		k.ids[path], k.paths[id] = id, path
	}
}

// poolNames maps pools to numbers, as far as a transaction knows them.
type poolNames struct {
	known *knownPools
	trip  *trip
	made  map[string]int32 // new in this transaction
}

// ask queries, with the next do, the numbers of pools that this process does not know.
func (p *poolNames) ask(paths map[string]string) {
	if unknown := p.missing(paths); len(unknown) > 0 {
		p.trip.ask(`SELECT id, path FROM @.pool WHERE path = ANY($1)`, p.keep, unknown)
	}
}

func (p *poolNames) keep(r pgx.Rows) error {
	var id int32
	var path string
	err := r.Scan(&id, &path)
	if p.made == nil {
		p.made = map[string]int32{}
	}
	p.made[path] = id
	return err
}

// intern returns the number of a pool, and creates a missing pool for the user "maker".
func (p *poolNames) intern(path, maker string) (int32, error) {
	if err := p.internAll(map[string]string{path: maker}); err != nil {
		return 0, err
	}
	if id, known := p.known.id(path); known {
		return id, nil
	}
	return p.made[path], nil
}

// internAll creates the missing pools, each for its user, in one statement and in the order of their paths. The order
// matters because a transaction that creates a pool waits for another one that is creating the same pool.
func (p *poolNames) internAll(makers map[string]string) error {
	missing := p.missing(makers)
	if len(missing) == 0 {
		return nil
	}
	users := make([]string, len(missing))
	for i, path := range missing {
		users[i] = makers[path]
	}
	p.trip.ask(`INSERT INTO @.pool (path, since, maker) SELECT path, $3, maker FROM unnest($1::text[], $2::text[]) AS w (path, maker) ON CONFLICT DO NOTHING RETURNING id, path`,
		p.keep, missing, users, life.Nanos(p.trip.now))
	if err := p.trip.do(); err != nil {
		return err
	}
	if missing = p.missing(makers); len(missing) == 0 {
		return nil
	}
	p.trip.ask(`SELECT id, path FROM @.pool WHERE path = ANY($1)`, p.keep, missing) // others created them meanwhile
	return p.trip.do()
}

// missing returns the pools whose number neither the store nor the transaction knows, in order.
func (p *poolNames) missing(paths map[string]string) (missing []string) {
	for path := range paths {
		_, known := p.known.id(path)
		if _, here := p.made[path]; !known && !here {
			missing = append(missing, path)
		}
	}
	slices.Sort(missing)
	return missing
}

// path returns the path of a pool.
func (p *poolNames) path(id int32) (string, error) {
	if path, known := p.known.path(id); known {
		return path, nil
	}
	var path string
	p.trip.ask(`SELECT id, path FROM @.pool WHERE id = $1`, func(r pgx.Rows) error {
		if err := p.keep(r); err != nil {
			return err
		}
		return r.Scan(&id, &path)
	}, id)
	return path, p.trip.do()
}
