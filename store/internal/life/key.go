package life

import "github.com/fairlead/fairlead/queue"

// Keyed is what becomes of a job whose key stands for another one, with a digest of what that was.
func Keyed(j *queue.Job, other int64, digest string) queue.Submission {
	if !j.KeyUntilEnd && j.Digest != "" && digest != "" && j.Digest != digest {
		return queue.Submission{Err: &queue.KeyError{Key: j.Key, Job: other}}
	}
	return queue.Submission{ID: other, Existing: true}
}
