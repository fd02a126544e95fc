package slurm

// ask stores the priority of a submission, until compare sees the job.
func (q *QS) ask(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.asked) < maxAsked {
		q.asked[r.name] = r.priority
	}
}

// compare compares the priorities of waiting jobs with the requested priorities.
func (q *QS) compare(all []record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range all {
		r := &all[i]
		asked, known := q.asked[r.name]
		if !known || r.measured {
			continue
		}
		delete(q.asked, r.name)
		switch {
		case r.priority == asked:
			q.other = nil
		case r.priority != 0: // 0: somebody holds the job
			if q.other == nil {
				q.log.Warn("Slurm does not keep the priorities of the bridge", "job", r.id, "asked", asked, "got", r.priority)
			}
			q.other = &disobedience{asked, r.priority, r.id}
		}
	}
}

// maxAsked limits the stored submissions. Some are enough to see whether Slurm obeys priorities.
const maxAsked = 1000
