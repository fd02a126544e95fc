// Package submit describes jobs in the words of users: the flags of fairlead submit, the directives of job scripts,
// and the form of the dashboard. It turns them into the job that a client sends.
package submit
