package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/permit"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/units"
)

func nodesPermitCommand(a *app) *cobra.Command {
	var ttl time.Duration
	var capacity, labels map[string]string
	var asJSON bool
	c := &cobra.Command{
		Use:   "permit NODE [--ttl TIME]",
		Short: "Permit a node on another machine to join, and print its join token",
		Long: `Permit a node on another machine to join, and print its join token. The token is valid once, for
this node, until it expires. It also names the key of the cluster, so that the machine can verify
the server before it sends anything. Give it to fairlead work --join on that machine.

--capacity and --label limit what the node may offer. When the agent joins next, they replace
the limits of an earlier permit. Resources that are not named are not limited. If a label is named, the
node may have only the labels named here, and the automatic labels arch, os and host.`,
		Example: `  fairlead nodes permit n17
  fairlead nodes permit n17 --capacity cpu=32,mem=120G --label rack=b --ttl 15m`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r := permit.Request{Bounds: permit.Bounds{Labels: labels}, TTLSeconds: ttl.Seconds()}
			for name, text := range capacity {
				n, err := units.ParseSize(text)
				if err != nil {
					return usagef("--capacity %s: %w", name, err)
				}
				if r.Capacity == nil {
					r.Capacity = map[string]int64{}
				}
				r.Capacity[name] = n
			}
			return a.with(func(client *api.Client) error {
				var out permit.Invitation
				err := client.Call(c.Context(), http.MethodPost, "/v1/permits/"+url.PathEscape(args[0]), r, &out)
				return show(a, asJSON, func(i *permit.Invitation) error {
					fmt.Fprintln(a.out, i.Token)
					fmt.Fprintf(a.errs, "valid once, for node %s, until %s\n", i.Node, i.Until.Format("15:04 on 2006-01-02"))
					return nil
				})(&out, err)
			})
		},
	}
	f := c.Flags()
	f.DurationVar(&ttl, "ttl", time.Hour, "how long the token is valid")
	f.StringToStringVar(&capacity, "capacity", nil, "maximum that the node may offer, e.g. cpu=32,mem=120G")
	f.StringToStringVar(&labels, "label", nil, "labels that the node may have, e.g. rack=b")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func nodesPermitsCommand(a *app) *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use:   "permits",
		Short: "List the nodes on other machines that may join",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(func(client *api.Client) error {
				return a.repeat(c.Context(), &l, func() error {
					var out permit.List
					err := client.Call(c.Context(), http.MethodGet, "/v1/permits", nil, &out)
					return show(a, l.json, func(doc *permit.List) error { return printPermits(a, &l, doc) })(&out, err)
				})
			})
		},
	}
	l.flags(c)
	return c
}

func printPermits(a *app, l *listing, doc *permit.List) error {
	t := table.New(table.Column{Name: "NODE"}, table.Column{Name: "STATE"}, table.Column{Name: "SINCE"},
		table.Column{Name: "CAPACITY"}, table.Column{Name: "LABELS"}, table.Column{Name: "BY"})
	for i := range doc.Permits {
		p := &doc.Permits[i]
		state, since := "permitted", p.Made
		switch {
		case !p.Revoked.IsZero():
			state, since = "revoked", p.Revoked
		case p.Key != "":
			state, since = "joined", p.Joined
		}
		var capacity, labels []string
		for _, name := range slices.Sorted(maps.Keys(p.Capacity)) {
			text := fmt.Sprint(p.Capacity[name])
			if name == "mem" {
				text = size(p.Capacity[name])
			}
			capacity = append(capacity, name+"="+text)
		}
		for _, name := range slices.Sorted(maps.Keys(p.Labels)) {
			labels = append(labels, name+"="+p.Labels[name])
		}
		t.Row(p.Node, state, clock(since, doc.At), dash(strings.Join(capacity, " ")), dash(strings.Join(labels, " ")), p.By)
	}
	return a.print(l, t)
}

func nodesRevokeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NODE...",
		Short: "Refuse the certificate of a node on another machine from now on",
		Long: `Refuse the certificate of a node on another machine from now on, and close its connections. The node
gets no new tasks and cannot report the ends of its old tasks. The old tasks wait again when their leases
expire, so that no task runs on two nodes at once. With a new join token (fairlead nodes permit) the node may return.`,
		Example: "  fairlead nodes revoke n17",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(func(client *api.Client) error {
				for _, node := range args {
					err := client.Call(c.Context(), http.MethodPost, "/v1/permits/"+url.PathEscape(node)+"/revoke", nil, nil)
					if err != nil {
						return err
					}
					fmt.Fprintf(a.out, "%s is revoked    (undo: fairlead nodes permit %[1]s)\n", node)
				}
				return nil
			})
		},
	}
}
