package settings

import (
	"slices"
	"sync"

	"github.com/fairlead/fairlead/config"
)

// reader reads configurations, and caches the last few: an editor checks a text, compares it and makes a plan
// from it, and with thousands of pools each reading takes long.
type reader struct {
	mu   sync.Mutex
	last []readText // latest first
}

// readText is a text that was read. It never changes.
type readText struct {
	name, text string
	config     *config.Config
}

// readKept is how many texts are cached.
const readKept = 4

func (r *reader) parse(name, text string) (*config.Config, error) {
	if c := r.known(name, text); c != nil {
		return c, nil
	}
	c, err := config.Parse(name, []byte(text))
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.last = append([]readText{{name, text, c}}, r.last[:min(len(r.last), readKept-1)]...)
	}
	return c, err
}

func (r *reader) known(name, text string) *config.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.last, func(x readText) bool { return x.name == name && x.text == text })
	if i < 0 {
		return nil
	}
	return r.last[i].config
}
