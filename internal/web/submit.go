package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/submit"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// submitPage submits a job. A POST to the same address checks the form, or submits the job.
var submitPage = &Page{Name: "submit", Of: "queue", Path: submitPath, Seen: ByUser, Load: loadSubmit, Post: postSubmit}

const submitPath = "submit"

// formField is a field of the form, which is a flag of fairlead submit.
type formField struct {
	Flag, Label, Example string
	Size                 int
	Text                 string
	List                 string // id of its suggestions
	Hint                 string
}

// mainFields are the fields that most jobs use, moreFields the others.
var (
	mainFields = []formField{
		{Flag: "name", Label: "Name", Example: "neutrons", Size: 16},
		{Flag: "pool", Label: "Pool", Example: "by the rules", Size: 20, List: "pool-names"},
		{Flag: "cpus", Label: "Processors per task", Example: "1", Size: 6},
		{Flag: "mem", Label: "Memory per task", Example: "4G", Size: 8, Hint: "chooses a machine, and is not enforced"},
		{Flag: "time", Label: "Time limit", Example: "of the pool; 30m, 2h", Size: 18},
		{Flag: "array", Label: "Task numbers of an array", Example: "1-20%4: at most 4 at once", Size: 22},
		{Flag: "after", Label: "Start after these jobs", Example: "12, any:13", Size: 14,
			Hint: "12: after it has succeeded; failed:12, any:12"},
	}
	moreFields = []formField{
		{Flag: "chdir", Label: "Working directory", Example: "home directory", Size: 30},
		{Flag: "output", Label: "File for the output", Example: "/home/ann/%j.out", Size: 24,
			Hint: "default: this dashboard and fairlead logs show it"},
		{Flag: "error", Label: "File for the error output", Example: "with the output", Size: 24},
		{Flag: "begin", Label: "Earliest start", Example: "16:00, tomorrow 08:00", Size: 18},
		{Flag: "priority", Label: "Priority in the pool", Example: "normal", Size: 10,
			Hint: "very_high, high, normal, low, very_low"},
		{Flag: "nodes", Label: "Machines at once", Size: 4, Hint: "one task on each; all start at once"},
		{Flag: "tasks", Label: "Tasks at once", Size: 4, Hint: "on any machines; all start at once"},
		{Flag: "gpus", Label: "GPUs per task", Example: "1, a100:2", Size: 10},
		{Flag: "request", Label: "Other resources per task", Example: "tape=1", Size: 14},
		{Flag: "constraint", Label: "Machines must have", Example: "arch=amd64 & rack!=b", Size: 24},
		{Flag: "reservation", Label: "Reservation", Size: 12},
		{Flag: "licenses", Label: "Licenses per task", Example: "matlab:1", Size: 14},
		{Flag: "rate", Label: "Rates", Example: "linkedin", Size: 12},
		{Flag: "kind", Label: "Kind", Size: 10},
		{Flag: "max-running", Label: "Running tasks at most", Size: 4},
		{Flag: "retries", Label: "Retries of a failed task", Example: "0", Size: 4},
		{Flag: "backoff", Label: "Delay before the first retry", Example: "5s", Size: 6, Hint: "doubles each time"},
		{Flag: "qos", Label: "Quality of service", Size: 10, Hint: "only with the policy multifactor"},
		{Flag: "nice", Label: "Nice", Example: "0", Size: 4, Hint: "lowers the priority; only with the policy multifactor"},
		{Flag: "requestor", Label: "Requestor", Example: "your name", Size: 12, Hint: "rules for pools may use it"},
	}
)

// submitForm is a form for a job, before or after it is submitted.
type submitForm struct {
	At         time.Time
	Text       string      // the command or the script
	Main, More []formField // with their texts
	Open       bool        // a field of More is used
	Hold       bool
	Like       int64 // the job that the form copies; 0 for none
	Key        string
	Pools      []string
	Problem    string
	Notes      []string       // directives without an effect
	Checked    *api.Submitted // what would happen
	Done       *api.Submitted
}

// newSubmit returns an empty form.
func newSubmit(ctx context.Context, src Source, r *Request) (*submitForm, error) {
	me := access.Object{Owner: r.You.User}
	if err := r.You.may(access.Submit, me); err != nil {
		return nil, err
	}
	s := &submitForm{At: time.Now(), Main: slices.Clone(mainFields), More: slices.Clone(moreFields),
		Key: formKey()}
	for _, pool := range poolsFor(ctx, src) {
		if r.You.can(access.Submit, access.Object{Owner: r.You.User, Pool: pool}) {
			s.Pools = append(s.Pools, pool)
		}
	}
	return s, nil
}

func loadSubmit(ctx context.Context, src Source, r *Request) (any, error) {
	s, err := newSubmit(ctx, src, r)
	if err != nil {
		return nil, err
	}
	s.set(map[string]string{"pool": r.Word("pool")})
	if r.Word("like") == "" {
		return s, nil
	}
	j, err := s.source(ctx, src, r)
	if err != nil {
		return nil, err
	}
	s.Text = commandOf(&j.Spec)
	s.set(submit.Copy(&j.Spec))
	return s, nil
}

// source returns the job that the form copies.
func (s *submitForm) source(ctx context.Context, src Source, r *Request) (*api.Job, error) {
	id, err := strconv.ParseInt(r.Word("like"), 10, 64)
	if err != nil || id <= 0 {
		return nil, &queue.Invalid{Field: "like", Msg: fmt.Sprintf("%.40q is not a job number", r.Word("like"))}
	}
	j, err := src.Jobs.Job(ctx, id)
	if err != nil {
		return nil, err
	}
	if !copies(&j.Job, &r.You) {
		return nil, &queue.Invalid{Field: "like", Msg: fmt.Sprintf("only the owner of job %d sees all of it", id)}
	}
	s.Like = id
	return &j.Job, nil
}

// copies reports whether a user may submit a copy of a job: users see the scripts and variables of their own jobs.
func copies(j *api.Job, you *You) bool {
	o := access.Object{Owner: j.User, Pool: j.Pool}
	return (len(j.Argv) > 0 || j.Script) && you.can(access.Output, o) &&
		you.can(access.Submit, access.Object{Owner: you.User, Pool: j.Pool})
}

// commandOf returns the text of the form for a job: its script, or its command.
func commandOf(j *api.Spec) string {
	if j.Script {
		return string(j.Payload)
	}
	if len(j.Argv) == 3 && j.Argv[0] == "/bin/sh" && j.Argv[1] == "-c" {
		return j.Argv[2]
	}
	quoted := make([]string, len(j.Argv))
	for i, word := range j.Argv {
		quoted[i] = words.ShellQuoted(word)
	}
	return strings.Join(quoted, " ")
}

// set sets the texts of fields, by their flags.
func (s *submitForm) set(texts map[string]string) {
	for i := range s.Main {
		s.Main[i].Text = strings.TrimSpace(texts[s.Main[i].Flag])
	}
	for i := range s.More {
		s.More[i].Text = strings.TrimSpace(texts[s.More[i].Flag])
		s.Open = s.Open || s.More[i].Text != ""
	}
}

// formKey returns a key for the job of a form, so that the same form makes one job, however often it is sent.
func formKey() string { return "web-" + rand.Text() }

func postSubmit(ctx context.Context, src Source, r *Request) (any, error) {
	s, err := newSubmit(ctx, src, r)
	if err != nil {
		return nil, err
	}
	// Forms end lines with two characters.
	s.Text, s.Hold = strings.ReplaceAll(r.Word("text"), "\r\n", "\n"), r.Word("hold") != ""
	s.Key = cmp.Or(r.Word("key"), s.Key)
	texts := map[string]string{}
	for flag := range r.Query {
		texts[flag] = r.Word(flag)
	}
	s.set(texts)
	var variables map[string]string
	if r.Word("like") != "" {
		j, err := s.source(ctx, src, r)
		if err != nil {
			return nil, err
		}
		variables = j.Env
	}
	spec, err := s.spec(variables)
	if err == nil {
		err = s.send(ctx, src, spec, r.Word("do") == "check")
	}
	if err != nil {
		s.Problem = s.named(err)
	}
	if errors.Is(err, queue.ErrKeyUsed) { // the user came back to a form that was sent
		s.Key = formKey()
		s.Problem = "this form was already submitted with other contents; submit it again to make another job"
	}
	return s, nil
}

// spec returns the job of the form. The job gets the given variables.
func (s *submitForm) spec(variables map[string]string) (spec *api.Spec, err error) {
	flags := pflag.NewFlagSet("submit", pflag.ContinueOnError)
	o := submit.Options{}
	o.AddFlags(flags)
	if err := s.fill(flags); err != nil {
		return nil, err
	}
	if len(variables) > 0 {
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			o.Environ = append(o.Environ, name+"="+variables[name])
		}
		o.Export = "ALL"
	}
	text := strings.TrimSpace(s.Text)
	switch {
	case text == "":
		return nil, &queue.Invalid{Field: "Command or script", Msg: "is empty"}
	case strings.HasPrefix(text, "#"):
		spec, s.Notes, err = o.Script("script", []byte(s.Text), []string{cmp.Or(o.Name, "script")})
	default:
		spec, s.Notes, err = o.Line(text)
	}
	return spec, err
}

// fill sets the flags that have a text.
func (s *submitForm) fill(flags *pflag.FlagSet) error {
	for _, f := range slices.Concat(s.Main, s.More) {
		if f.Text == "" {
			continue
		}
		text := f.Text
		if f.Flag == "after" || f.Flag == "rate" || f.Flag == "licenses" || f.Flag == "gpus" {
			text = strings.Join(listOf(text), ",")
		}
		if err := flags.Set(f.Flag, text); err != nil {
			return &submit.FlagError{Flag: f.Flag, Err: fmt.Errorf("%.40q is not understood", f.Text)}
		}
	}
	if s.Hold {
		return flags.Set("hold", "true")
	}
	return nil
}

// named writes a fault with the label of its field in place of the flag.
func (s *submitForm) named(err error) string {
	var wrong *submit.FlagError
	if !errors.As(err, &wrong) {
		return strings.TrimSuffix(err.Error(), " (to submit it anyway: --allow-unsatisfiable)") // the form cannot
	}
	for _, f := range slices.Concat(s.Main, s.More) {
		if f.Flag == wrong.Flag {
			return f.Label + ": " + wrong.Err.Error()
		}
	}
	return err.Error()
}

// send checks the job, or submits it.
func (s *submitForm) send(ctx context.Context, src Source, spec *api.Spec, check bool) error {
	if !check {
		spec.Key = s.Key
	}
	out, err := src.Jobs.Submit(ctx, spec, check)
	if err != nil {
		return err
	}
	if err := out.Error.Err(); err != nil {
		return err
	}
	if check {
		s.Checked = out
	} else {
		s.Done = out
	}
	return nil
}

// Result is what happened, or would happen.
func (s *submitForm) Result() *api.Submitted { return cmp.Or(s.Done, s.Checked) }

// Starts says when the job starts.
func (s *submitForm) Starts(e *why.Estimate) string {
	left := e.By.Sub(s.At)
	switch {
	case left < time.Second && s.Checked != nil:
		return "It would start now."
	case left < time.Second:
		return "It starts now."
	}
	return fmt.Sprintf("It starts by %s (in %s) %s.", instant.Clock(*e.By, s.At), why.Duration(left), e.Provided())
}
