package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options are the settings of a store. The zero value is usable.
type Options struct {
	// Unit is the resource that tasks are charged for; default cpu.
	Unit string
	// Schema is where the tables are; missing tables are created. Default: schema=NAME in the URL, else fairlead.
	Schema string
	// Grace is how long leases last after Open, if no other server is present, and after the database was unavailable.
	// Nobody could renew the leases in these times. Default: leases are not extended.
	Grace time.Duration
	// Direct is HOST:PORT of the database itself, if the URL is that of a pooler such as PgBouncer. Default:
	// direct=HOST:PORT in the URL.
	Direct string
	// Timeout bounds every call; default 30 seconds.
	Timeout time.Duration
	// Now is the clock. Default: the clock of the database, which all programs that share the database need. Tests use
	// virtual time.
	Now    func() time.Time
	Logger *slog.Logger // default: discards
}

// configure reads the address, and fills in options that are not set.
func (o *Options) configure(address string) (*pgxpool.Config, error) {
	config, err := parseURL(address)
	if err != nil {
		return nil, err
	}
	parameters := config.ConnConfig.RuntimeParams
	o.Schema = cmp.Or(o.Schema, parameters["schema"])
	o.Direct = cmp.Or(o.Direct, parameters["direct"])
	delete(parameters, "schema")
	delete(parameters, "direct")
	o.fill()
	// Databases and roles may have other settings, which would change how texts are read.
	parameters["client_encoding"], parameters["standard_conforming_strings"] = "UTF8", "on"
	if parameters["application_name"] == "" {
		parameters["application_name"] = "fairlead"
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	return config, nil
}

// fill sets missing options to their defaults.
func (o *Options) fill() {
	o.Unit = cmp.Or(o.Unit, "cpu")
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Schema = cmp.Or(o.Schema, "fairlead")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// parseURL parses the URL. Its error repeats no part of a malformed URL, which may contain a password.
func parseURL(text string) (*pgxpool.Config, error) {
	if strings.Contains(text, "://") {
		if _, err := url.Parse(text); err != nil {
			return nil, errors.New("the URL of the database cannot be read; write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %XX for special characters in the name and the password")
		}
	}
	return pgxpool.ParseConfig(text)
}

// placeOf describes the location of the jobs, without a password.
func placeOf(c *pgx.ConnConfig, schema string) string {
	host := c.Host
	if !strings.HasPrefix(host, "/") { // otherwise it is the directory of a socket
		host = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	}
	return fmt.Sprintf("PostgreSQL at %s, database %s, schema %s", host, c.Database, schema)
}
