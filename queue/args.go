package queue

// Args are what a handler of one kind of job gets: a struct of your program, which is kept
// as JSON. Jobs that wait outlive your program, so add fields rather than change what they
// mean.
type Args interface {
	// Kind names the kind of job. It is the same for all values, also for the zero value.
	Kind() string
}
