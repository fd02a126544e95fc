package top

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/fairlead/fairlead/internal/api"
)

// Run shows a server until its user quits or ctx ends.
func Run(ctx context.Context, c *api.Client, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, err := program(ctx, served{c}, in, out, os.Environ()).Run()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return nil
	}
	return err
}

// program returns a program that shows a server, and follows its events until ctx ends.
func program(ctx context.Context, s source, in io.Reader, out io.Writer, env []string,
	options ...tea.ProgramOption) *tea.Program {
	happenings := make(chan struct{}, 1)
	go follow(ctx, s, happenings)
	options = append([]tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithFPS(30),
		tea.WithEnvironment(env)}, options...)
	if !colours(env) {
		options = append(options, tea.WithColorProfile(colorprofile.Ascii))
	}
	return tea.NewProgram(newModel(ctx, s, happenings), options...)
}

// colours reports whether the terminal in the environment may have colors. The library finds out which
// colors, but it assumes that every terminal has some.
func colours(env []string) bool {
	i := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, "TERM=") })
	if i < 0 {
		return true
	}
	term := strings.TrimPrefix(env[i], "TERM=")
	return !strings.HasPrefix(term, "vt1") && !strings.HasPrefix(term, "vt2") && !strings.HasSuffix(term, "-m") &&
		!strings.HasSuffix(term, "-mono")
}
