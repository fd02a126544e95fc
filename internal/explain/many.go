package explain

// ManyWaiting is the number of waiting tasks from which on the place of a job is looked up in the shared order. A
// preview of its own takes time for every task before it.
const ManyWaiting = 4000
