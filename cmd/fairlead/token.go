package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/token"
	"github.com/fairlead/fairlead/internal/units"
)

func tokenCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke tokens with which programs act as a user",
		Long: `Make, list and revoke tokens. A token is a secret text with which a program acts as the
token's owner, within the token's scopes. A program shows it on the server's socket or over TLS:
the commands and libraries read it from the file that FAIRLEAD_TOKEN_FILE names.`,
	}
	c.AddCommand(tokenCreateCommand(a), tokenListCommand(a), tokenRevokeCommand(a))
	return c
}

// askToken calls the token routes of the server.
func askToken[T any](ctx context.Context, client *api.Client, method, below string, in any) (*T, error) {
	out := new(T)
	return out, client.Call(ctx, method, "/v1/tokens"+below, in, out)
}

func tokenCreateCommand(a *app) *cobra.Command {
	var r token.TokenRequest
	var lasts string
	var asJSON bool
	c := &cobra.Command{
		Use:   "create --scope SCOPE,... [flags]",
		Short: "Make a token and print it, once",
		Long: `Make a token and print it. The server keeps no copy, so write it to a file that only the user of
the program can read. The scopes say what the token allows:

  read      look at the cluster: its pools, nodes and jobs
  submit    submit jobs
  alter     hold, release, cancel and change jobs
  output    read the output of jobs, their variables and data
  run       run jobs, as an agent, a worker or a bridge; run:KIND runs the jobs of one kind
  operate   pause and boost pools
  admin     everything that the owner may do

A token never allows more than its owner may do at the time when it is used. It cannot make further tokens.`,
		Example: `  fairlead token create --scope submit,read --note 'the web shop' > /etc/shop/fairlead.token
  fairlead token create --scope submit --pool web/shop --for 30d
  fairlead token create --as shop --scope submit,alter,read`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if lasts != "" {
				d, err := units.ParseDuration(lasts)
				if err == nil && (d <= 0 || d > token.MaxLifetime) {
					err = fmt.Errorf("must be more than 0, and a year at most")
				}
				if err != nil {
					return usagef("--for: %w", err)
				}
				r.LastSeconds = d.Seconds()
			}
			if len(r.Scopes) == 0 {
				return usagef("--scope is missing: give what the token allows, such as --scope submit,read")
			}
			for _, scope := range r.Scopes {
				if wrong := token.CheckScope(scope); wrong != "" {
					return usagef("--scope: %s", wrong)
				}
			}
			return a.with(func(client *api.Client) error {
				return show(a, asJSON, func(t *token.TokenCreated) error {
					// Standard output gets only the token, so that it can be redirected to a file. The
					// description of the token goes to standard error.
					fmt.Fprintln(a.out, t.Text)
					fmt.Fprintf(a.errs, "token %s of %s: %s, until %s\nto revoke it: fairlead token revoke %[1]s\n", t.Token.ID,
						plain.Line(t.Token.Owner), goodFor(&t.Token), t.Token.Expires.Local().Format("2006-01-02 15:04"))
					return nil
				})(askToken[token.TokenCreated](c.Context(), client, http.MethodPost, "", r))
			})
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringSliceVar(&r.Scopes, "scope", nil,
		"what it allows: read, submit, alter, output, run, run:KIND, operate, admin")
	f.StringSliceVar(&r.Pools, "pool", nil, "pools for which it is valid, with the pools below (default: all)")
	f.StringVar(&lasts, "for", "", "lifetime, at most a year (default: 90d)")
	f.StringVar(&r.Note, "note", "", "purpose of the token, shown by token list")
	f.StringVar(&r.Owner, "as", "", "owner of the token (administrators only; default: you)")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	completeWords(c, "scope", token.Scopes...)
	return c
}

// goodFor writes the scopes of a token, and its pools.
func goodFor(t *token.Token) string {
	text := strings.Join(t.Scopes, ", ")
	if len(t.Pools) > 0 {
		text += " in " + strings.Join(t.Pools, ", ")
	}
	return plain.Line(text)
}

func tokenListCommand(a *app) *cobra.Command {
	var l listing
	var all bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List your tokens (administrators: all tokens), without their secrets",
		Example: "  fairlead token list\n  fairlead token list --all --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(func(client *api.Client) error {
				return a.repeat(c.Context(), &l, func() error {
					list := func(doc *token.TokenList) error { return a.print(&l, tokenTable(doc, all)) }
					return show(a, l.json, list)(askToken[token.TokenList](c.Context(), client, http.MethodGet, "", nil))
				})
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "include revoked and expired tokens")
	l.flags(c)
	return c
}

func tokenTable(doc *token.TokenList, all bool) *table.Table {
	var columns []table.Column
	for _, name := range []string{"ID", "OWNER", "SCOPES", "POOLS", "STATE", "USED", "MADE BY", "NOTE"} {
		columns = append(columns, table.Column{Name: name})
	}
	t := table.New(columns...)
	for i := range doc.Tokens {
		k := &doc.Tokens[i]
		if !all && !k.Counts(doc.At) {
			continue
		}
		used := "-"
		if !k.Used.IsZero() {
			used = instant.Clock(k.Used, doc.At)
		}
		scopes, pools := strings.Join(k.Scopes, ","), cmp.Or(strings.Join(k.Pools, ","), "all")
		t.Row(k.ID, k.Owner, scopes, pools, tokenState(k, doc.At), used, k.By, dash(k.Note))
	}
	return t
}

// tokenState says until when a token is valid, or why it no longer is.
func tokenState(k *token.Token, now time.Time) string {
	switch {
	case !k.Revoked.IsZero():
		return "revoked " + instant.Clock(k.Revoked, now)
	case !k.Counts(now):
		return "expired " + instant.Clock(k.Expires, now)
	}
	return "until " + instant.Clock(k.Expires, now)
}

func tokenRevokeCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "revoke ID...",
		Short: "Revoke tokens at once",
		Long: `Revoke tokens. The server no longer accepts them, and closes open connections that use them.
Other servers that use the same PostgreSQL database do the same within 5 seconds.`,
		Example: "  fairlead token revoke 5f0c1ab2d4",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(func(client *api.Client) error { return revokeTokens(c, a.out, client, args) })
		},
	}
	return c
}

func revokeTokens(c *cobra.Command, out io.Writer, client *api.Client, ids []string) error {
	for _, id := range ids {
		if strings.HasPrefix(id, "fl_") { // a whole token works too; only its id is sent
			id, _, _ = strings.Cut(strings.TrimPrefix(id, "fl_"), "_")
		}
		r, err := askToken[token.TokenEnded](c.Context(), client, http.MethodDelete, "/"+url.PathEscape(id), nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "token %s of %s is revoked\n", r.Token.ID, plain.Line(r.Token.Owner))
	}
	return nil
}
