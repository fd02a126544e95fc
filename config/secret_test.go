package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
)

const canary = "c4n4ry"

// TestPasswordsAreHidden: passwords are hidden in all output about a configuration, however its file is written, and
// the reader gets them from the file.
func TestPasswordsAreHidden(t *testing.T) {
	for _, database := range []string{
		"postgres://fair:c4n4ry@db.example.org/jobs?sslmode=verify-full",
		`"postgres://fair:c4n4ry@db.example.org/jobs"`,
		"'postgresql://fair:c4n4ry@db/jobs'",
		"postgres://fair:c4n4ry@c4n4ry@db/jobs",
		"postgres://:c4n4ry@db/jobs",
		"postgres://fair:%c4n4ry%2@db/jobs",
		"postgres://fair:'c4n4ry@db/jobs",
		"postgres://db/jobs?user=fair&password=c4n4ry&sslmode=require",
		"postgres://fair:c4n4ry@db/jobs?sslpassword=c4n4ry",
		"&a postgres://fair:c4n4ry@db/jobs",
		"host=db dbname=jobs password=c4n4ry",
	} {
		for _, format := range []string{"server:\n  database: %s\n", "server: {database: %s }\n", "server: {database: %s}\n",
			"# was: %[1]s\n\"server\":\n  listen: []\n  database:\n    %[1]s # c\n"} {
			text := fmt.Sprintf(format, database)
			c, err := config.Parse("f", []byte(text))
			if err != nil { // some cannot be hidden in this format; they are refused, and not shown
				if strings.Contains(err.Error(), canary) || strings.Contains(err.(config.Problems).Text(), canary) {
					t.Errorf("%s: %v", text, err)
				}
				continue
			}
			value, err := c.Value("server.database")
			if shown := c.Text() + string(c.YAML()) + value + fmt.Sprint(config.Diff(config.Default(), c)); err != nil ||
				strings.Contains(shown, canary) {
				t.Errorf("%s is shown as %s, %v", text, shown, err)
			}
			if !strings.Contains(c.Server.Database, canary) && !strings.Contains(c.Server.Database, "%c4") ||
				c.WholeText() != text {
				t.Errorf("%s is read as %s", text, c.Server.Database)
			}
			if again, err := config.Restore(c.Text(), text); err != nil || again != text {
				t.Errorf("%s comes back as %s, %v", text, again, err)
			}
			if _, err := config.Parse("f", []byte(c.Text())); err != nil {
				t.Errorf("what is shown cannot be read: %v", err)
			}
		}
	}
}

// TestPlainPasswordsAreRead: the usual notation is not refused.
func TestPlainPasswordsAreRead(t *testing.T) {
	for _, database := range []string{"postgres://fair:c4n4ry@db/jobs", `"postgres://fair:c4n4ry@db/jobs?sslmode=require"`,
		"postgres://fair@db/jobs", "/var/lib/password/jobs.db"} {
		if _, err := config.Parse("f", fmt.Appendf(nil, "server:\n  database: %s\n", database)); err != nil {
			t.Error(err)
		}
	}
}

// TestPasswordsThatCannotBeHidden: passwords that cannot be hidden are refused, and not shown.
func TestPasswordsThatCannotBeHidden(t *testing.T) {
	for _, database := range []string{
		`"postgres\x3a//fair:c4n4ry@db/jobs"`,
		`"postgres://fair:c4n4ry\x40db/jobs"`,
		"\"postgres://fair:\\\n    c4n4ry@db/jobs\"",
		"postgres://db/jobs?pass%77ord=c4n4ry",
		"postgres://fair:c4n4ry c4n4ry@db/jobs",
	} {
		text := "polcy: fair\nserver:\n  database: " + database + "\n  lease: 1\n"
		_, err := config.Parse("f", []byte(text))
		if err == nil || !strings.Contains(err.Error(), "password in a form that cannot be hidden") ||
			strings.Contains(err.(config.Problems).Text(), canary) {
			t.Errorf("%s: %v", text, err)
		}
		if kept := config.HideFile(text); strings.Contains(kept, canary) {
			t.Errorf("%s is kept as %s", text, kept)
		}
	}
}

// TestErrorsShowNoPasswords: neither the text of an error nor the quoted lines show a password.
func TestErrorsShowNoPasswords(t *testing.T) {
	for _, text := range []string{
		"server:\n  database: postgres://fair:c4n4ry@db/jobs\n  lese: 1m\n",
		"server: postgres://fair:c4n4ry@db/jobs\n",
		"server:\n  databse: postgres://fair:c4n4ry@db/jobs\n",
		"server:\n  log_level: postgres://fair:c4n4ryc4n4ryc4n4ryc4n4ryc4n4ryc4n4ryc4n4ryc4n4ryc4n4ryc4n4ryc4n4ry@db/jobs\n",
		"server:\n  database: postgres://fair:c4n4ry@db/jobs\n   lease: [\n",
	} {
		_, err := config.Parse("f", []byte(text))
		if err == nil || strings.Contains(err.Error()+err.(config.Problems).Text(), canary) {
			t.Errorf("%s: %v\n%s", text, err, err.(config.Problems).Text())
		}
		if kept := config.HideFile(text); strings.Contains(kept, canary) {
			t.Errorf("%s is kept as %s", text, kept)
		}
	}
	if _, err := with(t, "server.database=postgres://fair:c4n4ry@db/jobs"); err == nil ||
		strings.Contains(err.Error(), canary) {
		t.Error(err)
	}
}

// TestRestore: a user who edits the address keeps the password, and gets an error if it is unknown.
func TestRestore(t *testing.T) {
	const file = "# ******** the database ********\nserver:\n  database: postgres://fair:c4n4ry@db/jobs\n"
	for text, want := range map[string]string{
		"a: postgres://fair:********@other:5433/jobs?sslmode=require": "a: postgres://fair:c4n4ry@other:5433/jobs?sslmode=require",
		"# ******** other banners ******** stay":                      "# ******** other banners ******** stay",
		"a: postgres://fair:new@db/jobs":                              "a: postgres://fair:new@db/jobs",
	} {
		if got, err := config.Restore(text, file); err != nil || got != want {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
	if _, err := config.Restore("a: postgres://bob:********@db/jobs", file); err == nil ||
		!strings.Contains(err.Error(), "PGPASSFILE") {
		t.Errorf("the password of another user: %v", err)
	}
}

// TestHashKnowsNoPassword: a hash does not depend on the password. Otherwise whoever sees the hash could try passwords
// until one fits.
func TestHashKnowsNoPassword(t *testing.T) {
	a, b := mustParse(t, "server: {database: \"postgres://u:one@h/d\"}"), mustParse(t,
		"server: {database: \"postgres://u:two@h/d\"}")
	if a.Shares.Hash != b.Shares.Hash || len(config.Diff(a, b)) > 0 {
		t.Errorf("%s and %s, %v", a.Shares.Hash, b.Shares.Hash, config.Diff(a, b))
	}
}
