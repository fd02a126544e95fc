package queue

// Args are the arguments of a job for the handler of its kind: a struct of your program, stored as JSON. Waiting jobs
// outlive your program, so add fields rather than change the meaning of existing ones.
type Args interface {
	// Kind names the kind of job. It returns the same name for all values, including the zero value.
	Kind() string
}
