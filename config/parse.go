package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// maxSize bounds a file, in bytes.
const maxSize = 1 << 20

// Parse parses a configuration. The error is a [Problems] with all errors and warnings, whose file is name.
func Parse(name string, text []byte) (*Config, error) {
	clean, problem := prepare(text)
	if problem == nil {
		var root *node
		if root, problem = readYAML(clean); problem == nil {
			problem = checkSecrets(clean, root)
		}
		if problem == nil {
			return read(name, clean, root)
		}
	}
	return nil, Problems{*problem}.finish(name, clean)
}

// Load reads the configuration in a file.
func Load(path string) (*Config, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// readFile reads a file up to one byte beyond the allowed size: the additional byte shows that the file is too large.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return text, nil
}

// ReadText reads a file as [Config.WholeText] returns it.
func ReadText(path string) (string, error) {
	text, err := readFile(path)
	if err != nil {
		return "", err
	}
	clean, _ := prepare(text)
	return clean, nil
}

// Default returns the configuration that is current without a file.
func Default() *Config {
	c, err := Parse("default", nil)
	if err != nil {
		panic("config: the defaults are wrong: " + err.Error())
	}
	return c
}

// prepare converts bytes to text: UTF-8 without a byte order mark, with lines that end in \n only. Other ends of lines
// in YAML, and characters that YAML refuses without a place, count as control characters.
func prepare(text []byte) (string, *Problem) {
	if len(text) > maxSize {
		return "", &Problem{Msg: "the file is larger than 1 MiB"}
	}
	clean := strings.TrimPrefix(string(text), "\ufeff")
	clean = strings.ReplaceAll(strings.ReplaceAll(clean, "\r\n", "\n"), "\r", "\n")
	at := place{1, 1}
	for i, r := range clean {
		switch {
		case r == '\n':
			at = place{at.line + 1, 0}
		case r == utf8.RuneError && !strings.HasPrefix(clean[i:], string(utf8.RuneError)):
			return strings.ToValidUTF8(clean, "\ufffd"),
				&Problem{Line: at.line, Col: at.col, Msg: "the file is not UTF-8 from here on"}
		case r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point)):
			return clean, &Problem{Line: at.line, Col: at.col, Msg: fmt.Sprintf("the file holds the control character %U", r)}
		}
		at.col++
	}
	return clean, nil
}

// read makes a configuration from the nodes of a file.
func read(name, text string, root *node) (*Config, error) {
	r := &reader{}
	c := &Config{name: name, text: text, root: root}
	if root.kind == scalar {
		r.errorf(root, "%s", noName(root))
	} else {
		fileTable.read(r, "the file", root, c)
	}
	if p := &c.Shares.Sched.Root; p.Policy != "" {
		r.checkZero(root, p, p.Policy)
		r.checkFutile(root, c)
		r.checkUnused(root, c)
		r.checkTimes(root, p, "", share.Times{})
	}
	if root.get("pools_on_demand") == nil {
		c.Shares.Closed = len(c.Shares.Sched.Root.Pools) > 0
	}
	r.checkBackfill(root, c)
	r.checkCharge(root, c)
	r.checkNewJobs(root, c)
	if c.Shares.Closed && c.Rules == nil {
		r.checkStarters(root)
	}
	if c.Shares.Closed {
		r.tree = map[string]bool{}
		for path := range c.Shares.Sched.Root.All() {
			r.tree[path] = true
		}
		r.checkTargets(root.get("placement"))
	}
	r.checkMultifactor(root, c)
	r.checkAccess(root, c)
	r.checkNobody(root, c)
	found := r.problems(name, text)
	if errors, _ := found.count(); errors > 0 {
		return nil, found
	}
	c.Problems, c.Hints = found, r.hints.finish(name, text)
	hideValues(root)
	c.hidden = Hide(text)
	return c, c.finish()
}

// problems returns what the reader found, and how many more problems it did not keep.
func (r *reader) problems(name, text string) Problems {
	found := r.found.finish(name, text)
	if r.more > 0 {
		found = append(found, Problem{
			File: name, Warning: !r.lost, Msg: units.Plural(r.more, "further problem") + " not shown",
		})
	}
	return found
}

// finish computes the values that depend on the fields.
func (c *Config) finish() error {
	if c.Rules != nil {
		p, err := share.NewPlacementRules(c.Rules)
		if err != nil {
			return err
		}
		c.Shares.PlacementRules = p
	}
	c.limits()
	if err := c.finishMultifactor(); err != nil {
		return err
	}
	c.Shares.Sched.NewPolicy = policy.New(policy.Options{ShortlistPools: c.Shortlist.Pools,
		ShortlistJobs: c.Shortlist.Jobs})
	sum := sha256.Sum256(c.YAML())
	c.Shares.Hash = hex.EncodeToString(sum[:4])
	return nil
}

// finishMultifactor copies the settings of multifactor into the shares.
func (c *Config) finishMultifactor() error {
	c.Shares.Sched.Multifactor = c.Multifactor.Multifactor
	c.Shares.Levels = slices.Sorted(maps.Keys(c.Multifactor.Levels))
	if len(c.Multifactor.Rules) == 0 {
		return nil
	}
	site, err := share.NewSite(c.Multifactor.Rules)
	c.Shares.Site, c.Shares.SiteRules = site, c.Multifactor.Rules
	return err
}

// limits copies licenses and rates into the shares.
func (c *Config) limits() {
	c.Shares.Sched.Licenses, c.Shares.Sched.UserRunning = c.Licenses, c.Shares.Users.Running
	if len(c.Rates) == 0 {
		return
	}
	c.Shares.Sched.Rates, c.Shares.KindRates = map[string]sched.Rate{}, map[string][]string{}
	for name, r := range c.Rates {
		c.Shares.Sched.Rates[name] = r.Rate
		for _, k := range r.Kinds {
			c.Shares.KindRates[k] = append(c.Shares.KindRates[k], name)
		}
	}
	for _, names := range c.Shares.KindRates {
		slices.Sort(names)
	}
}
