package access

// Verb is an action of a principal, in the words of a refusal.
type Verb string

// The verbs. Only administrators may do anything else.
const (
	Look      Verb = "look at the cluster"        // its pools, nodes and jobs, as everybody sees them
	Output    Verb = "read the output of the job" // and its variables and data
	Submit    Verb = "submit jobs"                // for the owner of the object, into its pool
	Alter     Verb = "change the job"             // hold, release, cancel, uncancel, requeue, change the priority
	Move      Verb = "move the job"               // to another pool
	Overtake  Verb = "be less nice than 0"        // put a job before others
	Pause     Verb = "pause the pool"             // and resume it
	Boost     Verb = "change shares"              // give a pool more weight for a time, and end that
	Usage     Verb = "change usage"               // of a pool
	Configure Verb = "change the configuration"   // and its settings
	Nodes     Verb = "change nodes"               // drain, resume, forget and reserve them
	Run       Verb = "run an agent"               // or a bridge, for the node of the object
	SignIn    Verb = "open the dashboard"         // get a code that begins a session of a browser
	SignOut   Verb = "end sessions"               // of one's own
	MakeToken Verb = "make a token"               // for the owner of the object
	SeeTokens Verb = "list or revoke tokens"      // of one's own
)

// scopes maps verbs to the scope that a limited credential needs.
var scopes = map[Verb]string{
	Look: "read", Output: "output", Submit: "submit", Alter: "alter", Move: "alter", Pause: "operate", Boost: "operate",
	Run: "run",
}

// Object is the target of a verb.
type Object struct {
	Owner string // the user to whom a job belongs, or for whom it is submitted
	Pool  string // of the job, or the pool that is changed: its path
	Node  string // the node that the sender runs
	// Kinds lists the kinds of jobs that the sender runs on a node. A worker names them; an agent runs commands and
	// names none.
	Kinds []string
	By    string // the user who made the pause or boost to change; "" for a new one
}
