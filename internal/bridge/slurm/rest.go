package slurm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// rest talks to a slurmrestd.
type rest struct {
	o      REST
	client *http.Client
}

// restVersion is the version of the interface that this code was tested with. Slurm 22.05 to 23.11 have it.
const restVersion = "v0.0.38"

var restVersions = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

func openREST(o REST) (*rest, error) {
	o.Version = cmp.Or(o.Version, restVersion)
	u, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("slurmrestd: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("slurmrestd: %q is not a URL such as http://localhost:6820", o.URL)
	case o.User == "":
		return nil, errors.New("slurmrestd: name the user of the token with --rest-user")
	case !restVersions.MatchString(o.Version):
		return nil, fmt.Errorf("slurmrestd: %q is not a version of its interface, such as %s; give it with --rest-version",
			o.Version, restVersion)
	case o.Token == nil:
		return nil, errors.New("slurmrestd: there is no token; make one with: scontrol token username=" + o.User +
			" lifespan=SECONDS")
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	// slurmrestd takes one call at a time on a connection, and closes idle connections.
	return &rest{o, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}}, nil
}

func (d *rest) close() { d.client.CloseIdleConnections() }

func (d *rest) runsAs() string { return d.o.User }

// problem is one of the errors in an answer.
type problem struct {
	Number      number `json:"error_number"`
	Error       string `json:"error"`
	Description string `json:"description"`
}

// nothingFound is the number of an error that means only that no job matches.
const nothingFound = 9003

// call sends a request to a part of slurmrestd and decodes the answer into the argument "into", unless that is nil. It
// returns the errors of slurmctld and slurmdbd as a failure.
func (d *rest) call(ctx context.Context, method, part, path string, query url.Values, body, into any) error {
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(text)
	}
	address := d.o.URL + "/" + part + "/" + d.o.Version + "/" + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, address, in)
	if err != nil {
		return err
	}
	token, err := d.o.Token()
	if err != nil {
		return fmt.Errorf("token for slurmrestd at %s: %w", d.o.URL, err)
	}
	r.Header.Set("X-SLURM-USER-NAME", d.o.User)
	r.Header.Set("X-SLURM-USER-TOKEN", strings.TrimSpace(token))
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := d.client.Do(r)
	if err != nil {
		return unanswered(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return &failure{"slurmrestd", "", err}
	}
	return read(answer.StatusCode, text, into)
}

// unanswered returns the failure of a call without an answer.
func unanswered(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return &failure{"slurmrestd", "connect failure: " + err.Error(), err}
	}
	return &failure{"slurmrestd", "", err}
}

// read decodes an answer.
func read(status int, text []byte, into any) error {
	var common struct {
		Errors []problem `json:"errors"`
		ID     number    `json:"job_id"` // if it is set, errors contains only remarks
	}
	err := json.Unmarshal(text, &common)
	switch {
	case err != nil && status == http.StatusUnauthorized:
		return &failure{
			"slurmrestd", "invalid authentication credential: slurmrestd refuses the token; make a new one with scontrol token",
			errors.New(http.StatusText(status)),
		}
	case err != nil:
		said := text[:min(len(text), 200)]
		return &failure{"slurmrestd", fmt.Sprintf("%s: %s", http.StatusText(status), said), err}
	case len(common.Errors) > 0 && common.ID == 0:
		var said []string
		for _, p := range common.Errors {
			said = append(said, cmp.Or(p.Description, p.Error))
		}
		if common.Errors[0].Number == nothingFound {
			return nil
		}
		return &failure{"slurmrestd", strings.Join(said, "; "), errors.New(http.StatusText(status))}
	case into == nil:
		return nil
	}
	return json.Unmarshal(text, into)
}

// number is a JSON number: a plain one or, in later versions, {"set": true, "number": 1}. A number that is
// not set is 0.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	*n = 0
	if bytes.HasPrefix(text, []byte("{")) {
		var long struct {
			Number float64 `json:"number"`
		}
		err := json.Unmarshal(text, &long)
		*n = number(long.Number)
		return err
	}
	return json.Unmarshal(text, (*float64)(n)) // null changes nothing
}

// word is a JSON string: a plain one or, in later versions, the first of a list.
type word string

func (w *word) UnmarshalJSON(text []byte) error {
	*w = ""
	if bytes.HasPrefix(text, []byte("[")) {
		var list []string
		err := json.Unmarshal(text, &list)
		if len(list) > 0 {
			*w = word(list[0])
		}
		return err
	}
	return json.Unmarshal(text, (*string)(w))
}
