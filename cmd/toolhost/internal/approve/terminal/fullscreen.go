package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolhost/cmd/toolhost/internal/approve/client"
	"toolhost/cmd/toolhost/internal/approve/screen"
)

// fullScreen shows prompts on the whole terminal. It returns how many answers of this person counted.
func (o Options) fullScreen(ctx context.Context, c *client.Client, early []any, events <-chan any) (int, error) {
	m := screen.New(screen.Options{Answerer: c, Now: time.Now, Once: o.Once, Ring: o.ring(os.Getenv)})
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithEnvironment(screenEnvironment(os.Environ())), tea.WithFPS(30))
	ended := make(chan struct{})
	var sending sync.WaitGroup
	sending.Go(func() {
		for _, e := range early {
			program.Send(e)
		}
		for {
			select {
			case e := <-events:
				program.Send(e)
			case <-ended:
				return
			}
		}
	})
	_, err := program.Run()
	close(ended)
	sending.Wait()
	switch {
	case errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil:
		return m.Answered(), ErrInterrupted
	case err != nil:
		return m.Answered(), fmt.Errorf("the terminal cannot be used: %w: try --plain", err)
	}
	return m.Answered(), nil
}

// screenEnvironment is the environment that the terminal library sees: any NO_COLOR counts, whatever its value, and no program is run
// to find out about tmux.
func screenEnvironment(environ []string) []string {
	return slices.DeleteFunc(append(environ, noColor()...), func(entry string) bool {
		return strings.HasPrefix(entry, "TMUX=") || strings.HasPrefix(entry, "TEA_TRACE=")
	})
}

func noColor() []string {
	if os.Getenv("NO_COLOR") == "" {
		return nil
	}
	return []string{"NO_COLOR=1"}
}
