package server

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/token"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// tokenService makes, lists and revokes tokens.
type tokenService struct {
	loop    *engine.Loop
	bearers *bearers
	names   *names
}

func (s *tokenService) routes(a huma.API) {
	handle(a, http.MethodPost, "/v1/tokens", "create-token", "Make a token with which a program acts as a user", 0,
		body(s.create))
	handle(a, http.MethodGet, "/v1/tokens", "tokens", "Your tokens; for administrators, all tokens", 0, alone(s.list))
	handle(a, http.MethodDelete, "/v1/tokens/{id}", "revoke-token", "Revoke a token at once", 0,
		func(ctx context.Context, in *tokenInput) (*token.TokenEnded, error) { return s.revoke(ctx, in.ID) })
}

type tokenInput struct {
	ID string `path:"id" maxLength:"40" doc:"The token's id, which is not secret"`
}

func (s *tokenService) keeper() (token.Keeper, error) {
	if s.bearers.keeper == nil {
		return nil, fmt.Errorf("this server's store keeps no tokens: %w", queue.ErrState)
	}
	return s.bearers.keeper, nil
}

// create makes a token for the sender on the server's socket, or, if an administrator sends, for another user. A token
// cannot make further tokens, so that a stolen token ends by itself.
func (s *tokenService) create(ctx context.Context, r token.TokenRequest) (*token.TokenCreated, error) {
	me := who(ctx)
	t := token.Token{
		Owner: cmp.Or(r.Owner, me.Name), UID: me.UID, Scopes: r.Scopes, Pools: r.Pools, Note: r.Note, By: me.Name,
	}
	if err := check(ctx, s.loop, access.MakeToken, access.Object{Owner: t.Owner}); err != nil {
		return nil, err
	}
	lasts, err := s.checkToken(&t, &r, &me)
	if err != nil {
		return nil, err
	}
	if t.Owner != me.Name {
		if t.UID, err = s.names.number(t.Owner); err != nil {
			return nil, fmt.Errorf("user %.80q: %w: %w", t.Owner, err, queue.ErrInvalid)
		}
	}
	keeper, err := s.keeper()
	if err != nil {
		return nil, err
	}
	text, id, hash := token.New()
	t.ID, t.Hash = id, hash
	made, err := keeper.AddToken(ctx, t, lasts)
	if err != nil {
		return nil, err
	}
	return &token.TokenCreated{Version: api.Version, Text: text, Token: *made}, nil
}

// checkToken refuses invalid requests for a token, and returns how long it lasts.
func (s *tokenService) checkToken(t *token.Token, r *token.TokenRequest, me *access.Principal) (time.Duration, error) {
	for _, scope := range t.Scopes {
		if wrong := token.CheckScope(scope); wrong != "" {
			return 0, fmt.Errorf("%s: %w", wrong, queue.ErrInvalid)
		}
	}
	if slices.Contains(t.Scopes, token.Admin) && t.Owner != me.Name {
		return 0, fmt.Errorf("only the owner can make a token with the scope admin: %w", queue.ErrForbidden)
	}
	if len(t.Pools) > 0 && slices.ContainsFunc(t.Scopes, func(s string) bool { return strings.HasPrefix(s, token.Run) }) {
		return 0, fmt.Errorf(
			"a token with the scope run cannot be limited to pools: leave the pools out: %w", queue.ErrInvalid)
	}
	if slices.Contains(t.Scopes, token.Admin) && !me.Admin {
		return 0, fmt.Errorf(
			"you are not an administrator, and a token may not do more than its owner: %w", queue.ErrForbidden)
	}
	for _, pool := range t.Pools {
		if err := share.CheckPath(pool); err != nil {
			return 0, fmt.Errorf("pool %.80q: %w: %w", pool, err, queue.ErrInvalid)
		}
	}
	if err := checkWords("note", t.Note); err != nil {
		return 0, err
	}
	if r.LastSeconds == 0 {
		return token.Lasts, nil
	}
	if math.IsNaN(r.LastSeconds) || r.LastSeconds > token.MaxLifetime.Seconds() {
		return 0, fmt.Errorf("a token is valid for a year at most: %w", queue.ErrInvalid)
	}
	return time.Duration(r.LastSeconds * float64(time.Second)), nil
}

func (s *tokenService) list(ctx context.Context) (*token.TokenList, error) {
	me := who(ctx)
	if err := check(ctx, s.loop, access.SeeTokens, access.Object{Owner: me.Name}); err != nil {
		return nil, err
	}
	keeper, err := s.keeper()
	if err != nil {
		return nil, err
	}
	all, err := keeper.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	if !me.Admin {
		all = slices.DeleteFunc(all, func(t token.Token) bool { return !me.Owns(t.Owner) || t.UID != me.UID })
	}
	return &token.TokenList{Version: api.Version, At: time.Now(), Tokens: all}, nil
}

// revoke ends a token of the sender, or anybody's token if the sender is an administrator. To others it reports that
// there is none.
func (s *tokenService) revoke(ctx context.Context, id string) (*token.TokenEnded, error) {
	me := who(ctx)
	if err := check(ctx, s.loop, access.SeeTokens, access.Object{Owner: me.Name}); err != nil {
		return nil, err
	}
	keeper, err := s.keeper()
	if err != nil {
		return nil, err
	}
	all, err := keeper.Tokens(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 || !me.Admin && (!me.Owns(all[0].Owner) || all[0].UID != me.UID) {
		return nil, queue.Missingf("you have no token %.40q; see fairlead token list", id)
	}
	err = keeper.RevokeToken(ctx, id)
	s.bearers.revoked(id)
	if err != nil {
		return nil, err
	}
	if all, err = keeper.Tokens(ctx, id); err != nil || len(all) == 0 {
		return nil, cmp.Or(err, queue.ErrNotFound)
	}
	return &token.TokenEnded{Version: api.Version, Token: all[0]}, nil
}
