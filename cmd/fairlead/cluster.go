package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/ca"
)

func clusterCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "cluster",
		Short: "Make or rotate the key that certifies the machines of a cluster",
		Long: `Make or rotate the key of the cluster. With this key the server makes the certificates by which
the server and its nodes on other machines recognize each other. The commands change the file of
the key: run them on the server's machine, as the server's user. Nodes join with
fairlead nodes permit.`,
	}
	c.AddCommand(clusterInitCommand(a), clusterExchangeCommand(a))
	return c
}

func clusterInitCommand(a *app) *cobra.Command {
	var path, name string
	c := &cobra.Command{
		Use:   "init [--authority FILE]",
		Short: "Make the key of the cluster",
		Long: `Make the key of the cluster, in a file that only the user who runs this command can read. Anyone who
has the file can make certificates for all nodes, so keep it on the server's machine only. If several
servers use one PostgreSQL database, each needs a copy.`,
		Example: "  sudo -u fairlead fairlead cluster init --authority /var/lib/fairlead/authority.pem --name lab",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			authority, err := ca.New(name, time.Now())
			if err != nil {
				return usagef("--name: %w", err)
			}
			if err := authorityDir(path); err != nil {
				return err
			}
			err = authority.Create(path)
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%s exists already; to make a new key, use fairlead cluster rotate", path)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "made the key of cluster %s: %s\n", name, path)
			return nil
		},
	}
	authorityFlag(c, &path)
	c.Flags().StringVar(&name, "name", clusterName(), "name of the cluster, in its certificates")
	return c
}

func clusterExchangeCommand(a *app) *cobra.Command {
	var path string
	c := &cobra.Command{
		Use: "rotate [--authority FILE]", Aliases: []string{"exchange"},
		Short: "Make a new key of the cluster; nodes switch to it automatically",
		Long: `Make a new key of the cluster. The server uses it at once, without a restart, and running tasks continue.
Nodes switch to it when they renew their certificates, within a day. The old key stays valid for
eight days, for nodes that were away. Join tokens that were made before stay valid, too.

If somebody has stolen the old key, stop the server, remove the file, and run fairlead cluster
init: then the old key is invalid at once, and all nodes need a join token.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			old, err := ca.Load(path)
			if err != nil {
				return err
			}
			next, err := old.Exchange(time.Now())
			if err != nil {
				return err
			}
			if err := next.Save(path); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "made a new key of cluster %s; the old key is valid until %s\n",
				next.Cluster(), time.Now().Add(ca.Lasts+ca.Late).Format("2006-01-02 15:04"))
			return nil
		},
	}
	authorityFlag(c, &path)
	return c
}

func authorityFlag(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "authority", defaultAuthority(), "file of the key, as server.tls.authority says")
}
