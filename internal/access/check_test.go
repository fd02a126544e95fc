package access

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/queue"
)

var (
	root    = Principal{Kind: User, Name: "root", UID: 0, Via: BySocket, Admin: true}
	ann     = Principal{Kind: User, Name: "ann", UID: 1000, Groups: []string{"physics", "leads"}, Via: BySocket}
	bob     = Principal{Kind: User, Name: "bob", UID: 1001, Groups: []string{"physics"}, Via: BySession}
	unknown = Principal{Name: "ann", UID: -1} // claims to be ann, and cannot prove it
	agent   = Principal{Kind: Node, Name: "n1", UID: -1, Via: ByCertificate}
	robot   = Principal{Kind: Service, Name: "robot", UID: -1, Via: ByToken}

	rules = Rules{
		Admin:     []Subject{"user:eve", "group:hpc"},
		Operators: []Operator{{Who: "group:leads", Below: "physics"}, {Who: "user:bob", Below: "biology/cells"}},
	}
)

// TestWhoMayDoWhat is the table of permissions. Only administrators may do anything that is not in it.
func TestWhoMayDoWhat(t *testing.T) {
	of := func(user, pool string) Object { return Object{Owner: user, Pool: pool} }
	for _, c := range []struct {
		who  Principal
		what Verb
		on   Object
		may  bool
	}{
		{ann, Submit, of("ann", ""), true}, {ann, Submit, of("bob", ""), false}, {root, Submit, of("bob", ""), true},
		{unknown, Submit, of("ann", ""), false}, {agent, Submit, of("n1", ""), false},
		{robot, Submit, of("robot", ""), false},
		{ann, Alter, of("ann", "guests"), true}, {ann, Alter, of("zoe", "biology"), false},
		{ann, Alter, of("bob", "physics/bob"), true}, {ann, Move, of("bob", "physics/bob"), true},
		{ann, Alter, of("bob", "physics2/bob"), false}, {ann, Alter, of("bob", ""), false},
		{bob, Alter, of("ann", "physics/ann"), false}, {bob, Move, of("ann", "biology/cells/ann"), true},
		{bob, Alter, of("ann", "biology"), false}, {root, Alter, of("bob", "x"), true},
		{unknown, Alter, of("ann", ""), false},
		{ann, Output, of("ann", ""), true}, {ann, Output, of("bob", "physics/bob"), false},
		{root, Output, of("bob", ""), true},
		{unknown, Output, of("ann", ""), false}, {agent, Output, of("n1", ""), false},
		{ann, Pause, of("", "physics"), true}, {ann, Pause, of("", "physics/bob"), true}, {ann, Pause, of("", ""), false},
		{ann, Pause, of("", "biology"), false}, {ann, Pause, Object{Pool: "physics", By: "ann"}, true},
		{ann, Pause, Object{Pool: "physics", By: "root"}, false}, {root, Pause, Object{Pool: "physics", By: "ann"}, true},
		{ann, Boost, of("", "physics/bob"), true}, {ann, Boost, of("", "physics"), false}, {ann, Boost, of("", ""), false},
		{ann, Boost, Object{Pool: "physics/bob", By: "root"}, false}, {bob, Boost, of("", "physics/bob"), false},
		{ann, Overtake, Object{}, false}, {root, Overtake, Object{}, true}, {unknown, Overtake, Object{}, false},
		{ann, Run, Object{Node: "n1"}, false}, {root, Run, Object{Node: "n1"}, true}, {unknown, Run, Object{}, false},
		{agent, Run, Object{Node: "n1"}, true}, {agent, Run, Object{Node: "n2"}, false},
		{ann, Nodes, Object{}, false}, {root, Nodes, Object{}, true}, {agent, Nodes, Object{Node: "n1"}, false},
		{ann, Usage, of("", "physics/ann"), false}, {ann, Configure, Object{}, false}, {root, Configure, Object{}, true},
		{ann, Look, Object{}, true}, {agent, Look, Object{}, true}, {robot, Look, Object{}, false},
		{ann, SignIn, Object{}, true}, {bob, SignIn, Object{}, false}, {agent, SignIn, Object{}, false},
		{bob, SignOut, Object{}, true},
		{ann, "invent", of("ann", "physics"), false}, {root, "invent", Object{}, true},
	} {
		err := rules.Check(&c.who, c.what, c.on)
		if (err == nil) != c.may || err != nil && !errors.Is(err, queue.ErrForbidden) {
			t.Errorf("%s (%d): %s, %+v: %v, want %v", c.who.Name, c.who.UID, c.what, c.on, err, c.may)
		}
	}
	if err := (&Rules{}).Check(&ann, Alter, of("bob", "physics/bob")); err == nil {
		t.Error("without a word in the configuration somebody operates a pool")
	}
}

// TestCredentialsLimit: a credential with scopes and pools gives only a part of its owner's rights, never more.
func TestCredentialsLimit(t *testing.T) {
	limited := root
	limited.Scopes, limited.Pools = []string{"alter"}, []string{"physics"}
	for _, c := range []struct {
		what Verb
		on   Object
		may  bool
	}{
		{Alter, Object{Owner: "bob", Pool: "physics/bob"}, true}, {Alter, Object{Owner: "bob", Pool: "biology"}, false},
		{Output, Object{Owner: "bob", Pool: "physics/bob"}, false}, {Configure, Object{}, false}, {Look, Object{}, false},
	} {
		if err := rules.Check(&limited, c.what, c.on); (err == nil) != c.may {
			t.Errorf("%s, %+v: %v", c.what, c.on, err)
		}
	}
}

// TestAdministrators: the configuration names users and groups as administrators; a node with the same name is not one.
func TestAdministrators(t *testing.T) {
	eve, hpc := Principal{Kind: User, Name: "eve"}, Principal{Kind: User, Name: "x", Groups: []string{"a", "hpc"}}
	node := Principal{Kind: Node, Name: "eve", Groups: []string{"hpc"}}
	if !rules.Administers(&eve) || !rules.Administers(&hpc) || rules.Administers(&ann) || rules.Administers(&node) {
		t.Error("the wrong ones administer")
	}
	if !Everybody.Is(&ann) || Everybody.Is(&agent) || Subject("ann").Is(&ann) || Subject("group:ann").Is(&ann) {
		t.Error("a subject means the wrong ones")
	}
	texts := map[string]bool{
		"user:ann": true, "group:x": true, "*": true, "ann": false, "user:": false, "": false, "role:x": false,
	}
	for text, good := range texts {
		if wrong := CheckSubject(text); (wrong == "") != good {
			t.Errorf("%q: %q", text, wrong)
		}
	}
}

// TestRefusalSaysWhatToDo: a refusal names the action, the reason and the next step.
func TestRefusalSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		who  Principal
		what Verb
		on   Object
		want string
	}{
		{bob, Submit, Object{Owner: "ann"}, "you (bob) may not submit jobs: only administrators submit for " +
			"others, such as ann; " +
			"ask an administrator"},
		{bob, Nodes, Object{}, "you (bob) may not change nodes; ask an administrator"},
		{bob, Output, Object{Owner: "ann"}, "you (bob) may not read the output of the job: the job belongs to ann; ask ann"},
		{ann, Boost, Object{Pool: "physics"}, "you (ann) may not change shares: you operate physics itself, but only " +
			"operators of a pool above it may change its share; change pools below it"},
		{unknown, Look, Object{}, "you may not look at the cluster: the server does not know who you are; use the server's " +
			"socket"},
		{agent, Run, Object{Node: "n2"}, `you (n1) may not run an agent: this certificate does not belong to the node "n2"`},
	} {
		if err := rules.Check(&c.who, c.what, c.on); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
