package slurm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
)

func (d *rest) submit(ctx context.Context, r *request) (string, error) {
	env := map[string]string{}
	for _, e := range r.env {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	job := map[string]any{
		"name": r.name, "comment": r.comment, "priority": r.priority, "current_working_directory": r.dir, "environment": env,
		"tasks": r.tasks, "cpus_per_task": r.cpus, "nodes": []int{1, 1},
	}
	for name, value := range map[string]string{
		"account": r.account, "partition": r.partition, "qos": r.qos, "standard_output": r.output, "standard_error": r.errors,
		"gres": r.gres, "licenses": r.licenses, "constraints": r.constraint,
	} {
		if value != "" {
			job[name] = value
		}
	}
	if r.memory > 0 {
		job["memory_per_node"] = r.memory
	}
	if r.minutes > 0 {
		job["time_limit"] = r.minutes
	}
	var answer struct {
		ID number `json:"job_id"`
	}
	body := map[string]any{"script": string(withArguments(r)), "job": job}
	if err := d.call(ctx, http.MethodPost, "slurm", "job/submit", nil, body, &answer); err != nil {
		return "", judge(err)
	}
	if answer.ID == 0 {
		return "", fmt.Errorf("%w: slurmrestd gave no number", bridge.ErrUnsure)
	}
	return fmt.Sprintf("%.0f", float64(answer.ID)), nil
}

func (d *rest) queue(ctx context.Context, names []string) ([]record, error) {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	var answer struct {
		Jobs []struct {
			ID        number `json:"job_id"`
			Name      string `json:"name"`
			State     word   `json:"job_state"`
			Reason    string `json:"state_reason"`
			Exit      number `json:"exit_code"`
			Priority  number `json:"priority"`
			Submitted number `json:"submit_time"`
			Start     number `json:"start_time"`
			End       number `json:"end_time"`
			TRES      string `json:"tres_alloc_str"`
		} `json:"jobs"`
	}
	if err := d.call(ctx, http.MethodGet, "slurm", "jobs", nil, nil, &answer); err != nil {
		return nil, err
	}
	var all []record
	for _, j := range answer.Jobs {
		if !wanted[j.Name] {
			continue
		}
		r := record{
			id: fmt.Sprintf("%.0f", float64(j.ID)), name: j.Name, state: string(j.State), reason: j.Reason,
			priority: int64(j.Priority), submitted: unix(j.Submitted), began: unix(j.Start), ended: unix(j.End),
			tres: j.TRES,
		}
		r.code, r.signal = int(j.Exit)>>8&0xff, int(j.Exit)&0x7f
		if !r.began.IsZero() && r.over() {
			r.elapsed = max(0, r.ended.Sub(r.began))
		}
		all = append(all, r)
	}
	return all, nil
}

func unix(n number) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.Unix(int64(n), 0)
}

// accountedJob is a job in the accounting.
type accountedJob struct {
	ID    number `json:"job_id"`
	Name  string `json:"name"`
	State struct {
		Current word   `json:"current"`
		Reason  string `json:"reason"`
	} `json:"state"`
	Exit struct {
		Code   number `json:"return_code"`
		Signal struct {
			ID     number `json:"id"`
			Number number `json:"signal_id"`
		} `json:"signal"`
	} `json:"exit_code"`
	Time struct {
		Elapsed, Submission, Start, End number
		Total                           struct{ Seconds, Microseconds number }
	} `json:"time"`
	TRES struct {
		Allocated []struct {
			Type, Name string
			Count      number
		}
	} `json:"tres"`
}

func (d *rest) accounting(ctx context.Context, ids, names []string, since time.Time) ([]record, error) {
	query := url.Values{"start_time": {since.Local().Format("2006-01-02T15:04:05")}}
	if len(ids) > 0 {
		query.Set("step", strings.Join(ids, ","))
	} else {
		query.Set("job_name", strings.Join(names, ","))
	}
	var answer struct {
		Jobs []accountedJob `json:"jobs"`
	}
	if err := d.call(ctx, http.MethodGet, "slurmdb", "jobs", query, nil, &answer); err != nil {
		return nil, err
	}
	var all []record
	for i := range answer.Jobs {
		all = append(all, answer.Jobs[i].record())
	}
	return all, nil
}

func (j *accountedJob) record() record {
	r := record{
		id: fmt.Sprintf("%.0f", float64(j.ID)), name: j.Name, state: string(j.State.Current),
		reason: j.State.Reason, measured: true,
		submitted: unix(j.Time.Submission), began: unix(j.Time.Start), ended: unix(j.Time.End),
		code: int(j.Exit.Code), signal: int(max(j.Exit.Signal.ID, j.Exit.Signal.Number)),
		elapsed: time.Duration(j.Time.Elapsed) * time.Second,
		cpu:     time.Duration(j.Time.Total.Seconds)*time.Second + time.Duration(j.Time.Total.Microseconds)*time.Microsecond,
	}
	var tres []string
	for _, t := range j.TRES.Allocated {
		name := t.Type
		if t.Name != "" {
			name += "/" + t.Name
		}
		tres = append(tres, fmt.Sprintf("%s=%.0f", name, float64(t.Count)))
	}
	r.tres = strings.Join(tres, ",")
	return r
}

// cancel ends one job after the other: slurmrestd has no call for several.
func (d *rest) cancel(ctx context.Context, ids []string) error {
	for _, id := range ids {
		err := d.call(ctx, http.MethodDelete, "slurm", "job/"+id, nil, nil, nil)
		var f *failure
		if errors.As(err, &f) && (strings.Contains(f.text, "nvalid job id") || strings.Contains(f.text, "already complet")) {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *rest) backlog(ctx context.Context) (int, error) {
	var answer struct {
		Statistics struct {
			Size *number `json:"dbd_agent_queue_size"`
		} `json:"statistics"`
	}
	err := d.call(ctx, http.MethodGet, "slurm", "diag", nil, nil, &answer)
	if err == nil && answer.Statistics.Size == nil {
		err = errors.New("slurmrestd does not report the length of the queue to slurmdbd")
	}
	if err != nil {
		return 0, err
	}
	return int(*answer.Statistics.Size), nil
}

// configuration checks that slurmctld answers, and returns no values: slurmrestd does not report any.
func (d *rest) configuration(ctx context.Context) (*config, error) {
	return &config{}, d.call(ctx, http.MethodGet, "slurm", "ping", nil, nil, nil)
}

func (d *rest) rank(ctx context.Context) (string, error) {
	var answer struct {
		Users []struct {
			Level word `json:"administrator_level"`
		} `json:"users"`
	}
	if err := d.call(ctx, http.MethodGet, "slurmdb", "user/"+url.PathEscape(d.o.User), nil, nil, &answer); err != nil {
		return "", err
	}
	if len(answer.Users) == 0 {
		return "", nil
	}
	return string(answer.Users[0].Level), nil
}

// has asks for the named partition or account. If it is missing, some versions of slurmrestd answer with an
// error, and others with an empty list.
func (d *rest) has(ctx context.Context, what, name string) (bool, error) {
	part := "slurm"
	if what == account {
		part = "slurmdb"
	}
	var answer struct {
		Partitions, Accounts []struct{ Name string }
	}
	err := d.call(ctx, http.MethodGet, part, what+"/"+url.PathEscape(name), nil, nil, &answer)
	var f *failure
	if errors.As(err, &f) && strings.Contains(strings.ToLower(f.text), "invalid "+what) {
		return false, nil
	}
	return slices.ContainsFunc(append(answer.Partitions, answer.Accounts...), func(x struct{ Name string }) bool {
		return x.Name == name || what == account && strings.EqualFold(x.Name, name) // slurmdbd uses lower case
	}), err
}
