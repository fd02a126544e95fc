package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
)

// filter is the text in the search field of the queue. It has words such as user:ann, pool:physics, kind:mpi,
// state:held, name:fit, wait:>1h, ended:<1h, cause:"exit 1", node:n1 and cpu:>8. A plain word must be in the name of
// a job, or be its number. A job must match all words.
type filter struct {
	Text  string
	Query queue.Query
	// Problems holds messages about words that are not understood.
	Problems []string

	tests   []func(j *api.Job) bool
	byCause bool // a test needs to know how jobs ended
}

// maxFilter bounds a typed filter, in bytes.
const maxFilter = 500

func parseFilter(text string, now time.Time) filter {
	f := filter{Text: text}
	if len(text) > maxFilter {
		f.Text, f.Problems = "", []string{"the filter is longer than " + strconv.Itoa(maxFilter) + " bytes"}
		return f
	}
	for word, left := nextWord(text); word != ""; word, left = nextWord(left) {
		name, value, typed := strings.Cut(word, ":")
		if name, err := strconv.Unquote(value); err == nil && value[0] == '"' {
			value = name
		}
		if !typed || value == "" {
			f.name(word)
			continue
		}
		switch strings.ToLower(name) {
		case "user", "u":
			f.one("user", &f.Query.User, value)
		case "pool", "p":
			f.one("pool", &f.Query.Pool, value)
		case "kind", "k":
			f.one("kind", &f.Query.Kind, value)
		case "name":
			f.name(value)
		case "state":
			f.state(value)
		case "wait":
			f.wait(value, now)
		case "ended":
			f.ended(value, now)
		case "cause":
			f.cause(value)
		case "node":
			f.node(value)
		case "since", "age", "before", "after", "older", "newer":
			f.problem("Unknown filter " + strconv.Quote(name+":") +
				"; for jobs that ended in the last hour use ended:<1h, for jobs that have waited for an hour wait:>1h")
		default:
			f.number(name, value)
		}
	}
	return f
}

// nextWord splits the first word off a typed filter. In quotes, as in user:"a b", a value may contain blanks.
func nextWord(text string) (word, left string) {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, unicode.IsSpace)
	if at := strings.Index(text, `:"`) + 1; at > 0 && (end < 0 || at < end) {
		if quoted, err := strconv.QuotedPrefix(text[at:]); err == nil {
			return text[:at+len(quoted)], text[at+len(quoted):]
		}
	}
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// filterValue returns a value as it must be typed.
func filterValue(text string) string {
	if plain := strconv.Quote(text); plain != `"`+text+`"` || strings.ContainsFunc(text, unicode.IsSpace) {
		return plain
	}
	return text
}

// indexed reports whether the store can find the jobs that may match.
func (f *filter) indexed() bool {
	return f.Query.User != "" || f.Query.Pool != "" || f.Query.Kind != ""
}

func (f *filter) passes(j *api.Job) bool {
	return !slices.ContainsFunc(f.tests, func(test func(*api.Job) bool) bool { return !test(j) })
}

// err returns the problems of the filter as an error; with an error, callers must not act on all jobs.
func (f *filter) err() error {
	if len(f.Problems) == 0 {
		return nil
	}
	return &queue.Invalid{Field: "q", Msg: strings.Join(f.Problems, "; ")}
}

func (f *filter) problem(text string) { f.Problems = append(f.Problems, text) }

// one sets a property that has one value in each job, so that a filter with two values would find nothing.
func (f *filter) one(name string, of *string, value string) {
	if *of != "" && *of != value {
		f.problem(fmt.Sprintf("%s: is given twice (%s and %s); a job has only one", name, *of, value))
		return
	}
	*of = value
}

// name searches a word in the name, or the number of a job.
func (f *filter) name(word string) {
	if id, err := strconv.ParseInt(word, 10, 64); err == nil {
		f.tests = append(f.tests, func(j *api.Job) bool { return j.ID == id || strings.Contains(j.Name, word) })
		return
	}
	lower := strings.ToLower(word)
	f.tests = append(f.tests, func(j *api.Job) bool { return strings.Contains(strings.ToLower(j.Name), lower) })
}

// stateNames lists the states of jobs.
func stateNames() string {
	var names []string
	for _, s := range queue.States() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func (f *filter) state(value string) {
	s := queue.State(value)
	if !slices.Contains(queue.States(), s) {
		f.problem("unknown state " + strconv.Quote(value) + "; use " + stateNames())
		return
	}
	f.Query.States = append(f.Query.States, s)
}

// bound splits a comparison, such as >1h or <8; without a sign it means at least.
func bound(value string) (text string, over bool) {
	if rest, ok := strings.CutPrefix(value, "<"); ok {
		return rest, false
	}
	return strings.TrimPrefix(value, ">"), true
}

// wait searches jobs by their age.
func (f *filter) wait(value string, now time.Time) {
	if d, over, ok := f.duration("wait", value); ok {
		f.tests = append(f.tests, func(j *api.Job) bool { return (now.Sub(j.Submitted) >= d) == over })
	}
}

// ended searches jobs by the time since their end: ended:<1h finds the jobs that ended in the last hour, as does
// ended:1h.
func (f *filter) ended(value string, now time.Time) {
	if value[0] != '<' && value[0] != '>' {
		value = "<" + value
	}
	d, over, ok := f.duration("ended", value)
	if !ok {
		return
	}
	if !over {
		f.Query.Since = now.Add(-d)
	}
	f.tests = append(f.tests, func(j *api.Job) bool { return j.Ended != nil && (now.Sub(*j.Ended) >= d) == over })
}

// duration reads a comparison with a duration, and notes the problem if it is none.
func (f *filter) duration(name, value string) (d time.Duration, over, ok bool) {
	text, over := bound(value)
	if text == "" {
		f.problem(name + ": a time is missing, as in " + name + ":" + value + "1h")
		return 0, over, false
	}
	d, err := units.ParseDuration(text)
	if err != nil {
		f.problem(name + ": " + err.Error())
	}
	return d, over, err == nil
}

// cause searches jobs that ended in one way; see [words.Cause]. The lists show exit statuses in both spellings.
func (f *filter) cause(value string) {
	f.byCause = true
	value = strings.Replace(value, "exit status ", "exit ", 1)
	f.tests = append(f.tests, func(j *api.Job) bool { return words.Cause(j) == value })
}

// node searches jobs that run on a node, or ended there.
func (f *filter) node(name string) {
	f.byCause = true
	f.tests = append(f.tests, func(j *api.Job) bool {
		return slices.Contains(j.Nodes, name) || j.LastEnd != nil && j.LastEnd.Node == name
	})
}

// number compares the requested amount of a resource.
func (f *filter) number(resource, value string) {
	text, over := bound(value)
	if text == "" {
		f.problem(fmt.Sprintf("%s: a number is missing, as in %s8", resource, resource+":"+value))
		return
	}
	n, err := units.ParseSize(text)
	if err != nil && (text != value || strings.Contains("-.0123456789", text[:1])) {
		f.problem(resource + ": " + err.Error())
		return
	}
	if err != nil {
		f.problem("Unknown filter " + strconv.Quote(resource+":") +
			"; use user:, pool:, kind:, state:, name:, wait:, ended:, cause:, node:, or a resource such as cpu:>8")
		return
	}
	f.tests = append(f.tests, func(j *api.Job) bool { return (j.Request[resource] >= n) == over })
}
