package life

import (
	"fmt"

	"github.com/fairlead/fairlead/queue"
)

// Hold makes a job wait until it is released, and records the user and the reason.
func Hold(j *queue.Job, a queue.Alteration) {
	j.Held, j.HeldBy, j.HeldWhy = true, a.By, a.Cause
	j.State = State(j)
}

// LetGo ends the hold of a job. It reports whether a user or a reason was recorded.
func LetGo(j *queue.Job) (kept bool) {
	kept = j.HeldBy+j.HeldWhy != ""
	j.Held, j.HeldBy, j.HeldWhy = false, "", ""
	j.State = State(j)
	return kept
}

// ofAnother reports whether someone other than the job's user holds it: an administrator.
func ofAnother(j *queue.Job) bool { return j.HeldBy != "" && j.HeldBy != j.User }

// mayHold returns an error if a job cannot be held. An administrator may take over the hold of the job's user.
func mayHold(j *queue.Job, a queue.Alteration) error {
	if !j.Held || a.Admin && a.By != j.User && !ofAnother(j) {
		return nil
	}
	return fmt.Errorf("job %d is held already%s: %w", j.ID, byWhom(j), queue.ErrState)
}

// mayRelease returns an error if a job cannot be released. Only an administrator releases an administrator's hold.
func mayRelease(j *queue.Job, a queue.Alteration) error {
	switch {
	case !j.Held:
		return fmt.Errorf("job %d is not held: %w", j.ID, queue.ErrState)
	case !ofAnother(j) || a.By == "" || a.Admin || a.By == j.HeldBy:
		return nil
	}
	return fmt.Errorf("job %d is held%s; only an administrator may release it, and you (%s) are not one: ask %s: %w", j.ID, byWhom(j), a.By, j.HeldBy, queue.ErrForbidden)
}

func byWhom(j *queue.Job) (text string) {
	if j.HeldBy != "" {
		text = " by " + j.HeldBy
	}
	if j.HeldWhy != "" {
		text += " (" + j.HeldWhy + ")"
	}
	return text
}

// Words returns the cause of an alteration, with the user who asked for it.
func Words(a queue.Alteration) string {
	switch {
	case a.By == "":
		return a.Cause
	case a.Cause == "":
		return "by " + a.By
	}
	return a.Cause + " (by " + a.By + ")"
}
