package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/ca"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/permit"
	"github.com/fairlead/fairlead/queue"
)

// joinService lets nodes on other machines join, and stores what they may do.
type joinService struct {
	*certificates
	loop   *engine.Loop
	agents *agents
	record queue.Auditor // nil if the store keeps no record
	log    *slog.Logger
	seldom *seldom
}

func newJoinService(o Options, sessions *agents) *joinService {
	permits, _ := o.Store.(permit.Keeper)
	record, _ := o.Store.(queue.Auditor)
	return &joinService{
		certificates: &certificates{ca: o.CA, permits: permits, nodes: map[string]map[*nodeConn]bool{}},
		loop:         o.Loop, agents: sessions, record: record, log: o.Logger, seldom: &seldom{},
	}
}

func (s *joinService) routes(a huma.API) {
	handle(a, http.MethodGet, clusterPath+"roots", "cluster-roots",
		"The certificates of the cluster's authority", 0, alone(s.roots))
	handle(a, http.MethodPost, clusterPath+"join", "cluster-join",
		"Get the certificate of a node for a join token", 0, body(s.join))
	handle(a, http.MethodPost, clusterPath+"renew", "cluster-renew",
		"Renew the certificate for the same key", 0, body(s.renew))
	handle(a, http.MethodGet, "/v1/permits", "permits", "The nodes on other machines that may join", 0, alone(s.list))
	handle(a, http.MethodPost, "/v1/permits/{name}", "permit", "Permit a node to join, and make its join token", 0,
		func(ctx context.Context, in *namedPost[permit.Request]) (*permit.Invitation, error) {
			return s.permit(ctx, in.Name, in.Body)
		})
	handle(a, http.MethodPost, "/v1/permits/{name}/revoke", "revoke",
		"Refuse the certificate of a node, and close its connections", 0,
		func(ctx context.Context, in *struct {
			Name string `path:"name"`
		}) (*permit.Permit, error) {
			return s.revoke(ctx, in.Name)
		})
}

// ready returns an error if the server accepts no other machines.
func (s *joinService) ready() error {
	switch {
	case s.ca == nil:
		return fmt.Errorf("this server accepts no other machines: make the key of the cluster with fairlead cluster init, "+
			"and give the server an address with server.tls in the configuration: %w", queue.ErrState)
	case s.permits == nil:
		return fmt.Errorf("the store keeps no permits: %w", queue.ErrState)
	}
	return nil
}

// administered returns an error if the actor may not change nodes, or the server accepts no other machines.
func (s *joinService) administered(ctx context.Context) error {
	if err := check(ctx, s.loop, access.Nodes, access.Object{}); err != nil {
		return err
	}
	return s.ready()
}

func (s *joinService) roots(context.Context) (*permit.Roots, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	a := s.ca.Authority()
	return &permit.Roots{Cluster: a.Cluster(), Roots: a.Bundle(s.ca.Now())}, nil
}

// join gives a node its first certificate.
func (s *joinService) join(ctx context.Context, in permit.Join) (*permit.Certified, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	key, err := ca.RequestKey(in.Request)
	if err != nil {
		return nil, &queue.Invalid{Field: "request", Msg: err.Error()}
	}
	// The certificate comes first, so that a token is not used up for a name that cannot have one.
	out, err := s.certify(in.Node, in.Request)
	if err != nil {
		return nil, &queue.Invalid{Field: "node", Msg: err.Error()}
	}
	p, err := s.permits.Redeem(ctx, in.ID, ca.SecretHash(in.Secret), in.Node, key)
	if err != nil {
		s.note(ctx, queue.AuditEntry{
			From: "join token", What: "node join", Subject: in.Node, Refused: true, Note: err.Error(),
		})
		return nil, err
	}
	s.drop(in.Node) // connections with an earlier key of the node
	s.note(ctx, queue.AuditEntry{
		Who: "node/" + in.Node, From: "join token", What: "node join", Subject: in.Node, New: p.Key,
	})
	return out, nil
}

// renew gives a node another certificate for its key.
func (s *joinService) renew(ctx context.Context, in permit.Renew) (*permit.Certified, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	node, key, err := s.ca.Authority().Renewable(in.Certificate, in.Request, s.ca.Now())
	switch {
	case errors.Is(err, ca.ErrExpired):
		return nil, fmt.Errorf("%w: %w", err, permit.ErrUnauthenticated)
	case err != nil:
		return nil, &queue.Invalid{Field: "certificate", Msg: err.Error()}
	}
	if _, err := permit.Of(ctx, s.permits, node, key); err != nil {
		return nil, err
	}
	return s.certify(node, in.Request)
}

func (s *joinService) certify(node, request string) (*permit.Certified, error) {
	a, now := s.ca.Authority(), s.ca.Now()
	c, err := a.Node(node, request, now)
	if err != nil {
		return nil, err
	}
	return &permit.Certified{Certificate: c, Roots: a.Bundle(now)}, nil
}

func (s *joinService) list(ctx context.Context) (*permit.List, error) {
	if err := s.administered(ctx); err != nil {
		return nil, err
	}
	all, err := s.permits.Permits(ctx)
	if err != nil {
		return nil, err
	}
	return &permit.List{Version: 1, At: time.Now(), Permits: slices.Concat([]permit.Permit{}, all)}, nil
}

// permit makes a join token.
func (s *joinService) permit(ctx context.Context, node string, r permit.Request) (*permit.Invitation, error) {
	me := who(ctx)
	if me.Via == access.ByToken || me.Via == access.BySession { // so that a stolen credential cannot make another one
		return nil, fmt.Errorf("join tokens are made on the server's socket, without a token: %w", queue.ErrForbidden)
	}
	if err := s.administered(ctx); err != nil {
		return nil, err
	}
	if err := ca.CheckName(node); err != nil {
		return nil, &queue.Invalid{Field: "name", Msg: err.Error()}
	}
	if err := checkPermit(&r.Bounds); err != nil {
		return nil, err
	}
	lasts := time.Duration(r.TTLSeconds * float64(time.Second))
	token := ca.NewToken(s.ca.Authority().Hash())
	err := s.permits.Permit(ctx, permit.Permit{Node: node, Bounds: r.Bounds, By: me.Name},
		permit.Token{ID: token.ID, Hash: ca.SecretHash(token.Secret), Lasts: lasts})
	if err != nil {
		return nil, err
	}
	s.note(ctx, queue.AuditEntry{Who: me.Name, From: me.Via, What: "node permit", Subject: node, New: "token " + token.ID})
	return &permit.Invitation{Node: node, Token: token.String(), Until: time.Now().Add(lasts)}, nil
}

// checkPermit refuses bounds that no node could meet.
func checkPermit(b *permit.Bounds) error {
	for name, n := range b.Capacity {
		if err := checkWords("capacity", name); err != nil {
			return err
		}
		if n < 0 {
			return &queue.Invalid{Field: "capacity", Msg: fmt.Sprintf("%.40s is below 0", name)}
		}
	}
	for name, value := range b.Labels {
		if err := errors.Join(checkWords("labels", name), checkWords("labels", value)); err != nil {
			return err
		}
	}
	return nil
}

// revoke withdraws the certificate of a node. Its tasks continue until their leases end, so that no task runs
// on two nodes at once.
func (s *joinService) revoke(ctx context.Context, node string) (*permit.Permit, error) {
	me := who(ctx)
	if err := s.administered(ctx); err != nil {
		return nil, err
	}
	if err := s.permits.Revoke(ctx, node); errors.Is(err, queue.ErrNotFound) {
		return nil, queue.Missingf("no node %.80q on another machine is permitted", node)
	} else if err != nil {
		return nil, err
	}
	s.end(ctx, node)
	s.note(ctx, queue.AuditEntry{Who: me.Name, From: me.Via, What: "node revoke", Subject: node})
	all, err := s.permits.Permits(ctx, node)
	if err != nil || len(all) == 0 {
		return nil, errors.Join(err, queue.ErrNotFound)
	}
	return &all[0], nil
}

// end disconnects a revoked node: it gets no new tasks, and cannot renew the leases of its old ones.
func (s *joinService) end(ctx context.Context, node string) {
	x := s.agents.of(node)
	if x != nil {
		s.agents.end(x)
	}
	if n := s.drop(node); n > 0 {
		s.log.Warn("closed the connections of a node that was revoked", "node", node, "connections", n)
	}
	if x == nil {
		return
	}
	if err := x.member.Drain(ctx); err != nil {
		s.log.Warn("the last tasks that this server gives to a node that was revoked wait until their leases end",
			"node", node, "error", err)
	}
}

// bounds refuses an agent on another machine that offers more than its permit allows.
func (s *joinService) bounds(ctx context.Context, capacity map[string]int64, labels map[string]string) error {
	me := who(ctx)
	if me.Kind != access.Node {
		return nil
	}
	all, err := s.permits.Permits(ctx, me.Name)
	if err != nil || len(all) == 0 {
		return errors.Join(err, queue.ErrForbidden)
	}
	if err := all[0].Check(capacity, labels); err != nil {
		s.note(ctx, queue.AuditEntry{
			Who: "node/" + me.Name, From: me.Via, What: "agent join", Subject: me.Name, Refused: true, Note: err.Error(),
		})
		return err
	}
	return nil
}

// refused records the requests that a node may not send, each kind at most once a minute.
func (s *joinService) refused(r *http.Request, p access.Principal) {
	parts := strings.SplitN(r.URL.Path, "/", 4)
	verb := r.Method + " " + strings.Join(parts[1:min(3, len(parts))], "/")
	if !s.seldom.now(p.Name + " " + verb) {
		return
	}
	s.note(r.Context(), queue.AuditEntry{
		Who: "node/" + p.Name, From: p.Via, What: "request", Subject: clip(verb, 80), Refused: true,
		Note: "a node may act for its own agent only",
	})
}

// note logs an event, and records it if the store keeps a record.
func (s *joinService) note(ctx context.Context, e queue.AuditEntry) {
	level := slog.LevelInfo
	if e.Refused {
		level = slog.LevelWarn
	}
	s.log.Log(ctx, level, e.What, "node", e.Subject, "who", e.Who, "refused", e.Refused, "note", e.Note)
	if s.record == nil {
		return
	}
	if err := s.record.Audit(context.WithoutCancel(ctx), []queue.AuditEntry{e}, nil); err != nil {
		s.log.Warn("the record could not be written", "error", err)
	}
}
