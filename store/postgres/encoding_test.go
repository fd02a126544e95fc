package postgres_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// TestDatabasesAsTheyAre: the store works in a database that keeps bytes unchanged, as initdb makes it if no locale is
// set, and with settings of old programs. It refuses a database that cannot store all letters.
func TestDatabasesAsTheyAre(t *testing.T) {
	address := pgtest.Own(t)
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	for name, want := range map[string]string{
		"SQL_ASCII": "", "UTF8": "", "LATIN1": "the database has the encoding LATIN1",
	} {
		database := "as_" + strings.ToLower(name)
		for _, sql := range []string{
			`CREATE DATABASE ` + database + ` TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING '` + name + `'`,
			`ALTER DATABASE ` + database + ` SET standard_conforming_strings = off`,
			`ALTER DATABASE ` + database + ` SET client_encoding = 'LATIN1'`,
		} {
			if _, err := c.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		u.Path = "/" + database
		s, err := postgres.Open(t.Context(), u.String(), postgres.Options{})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		id := submit(t, s, 1, 1, func(j *queue.Job) { j.User, j.Name = "Ünal", `日本\'` })[0]
		jobs, err := s.Jobs(t.Context(), queue.Query{IDs: []int64{id}})
		if err != nil || len(jobs) != 1 || jobs[0].User != "Ünal" || jobs[0].Name != `日本\'` {
			t.Errorf("%s keeps %+v, %v", name, jobs, err)
		}
		s.Close()
	}
}
