package life

import "github.com/fairlead/fairlead/queue"

// Keyed returns the submission of a job whose key belongs to another job. The argument "digest" is that of the other
// job.
func Keyed(j *queue.Job, other int64, digest string) queue.Submission {
	if !j.KeyUntilEnd && j.Digest != "" && digest != "" && j.Digest != digest {
		return queue.Submission{Err: &queue.KeyError{Key: j.Key, Job: other}}
	}
	return queue.Submission{ID: other, Existing: true}
}
