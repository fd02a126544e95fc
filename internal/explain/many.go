package explain

// ManyWaiting is the smallest number of waiting tasks for which the place of a job is looked up in the shared order. A
// preview for this job alone would take time for every task before the job.
const ManyWaiting = 4000
