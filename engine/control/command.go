package control

import (
	"context"
	"fmt"
	"strings"
)

// Command is one thing that an operator can ask for.
type Command struct {
	Name string
	Args []string // the names of its arguments, which all must be given
	Help string
	Run  func(ctx context.Context, args []string) (answer string, err error)
}

// Commands answer lines.
type Commands []Command

// Answer runs the command that a line holds.
func (c Commands) Answer(ctx context.Context, line string) string {
	words := strings.Fields(line)
	if len(words) == 0 {
		return failure(fmt.Errorf("no command; %s", c.known()))
	}
	// NAME=VALUE is NAME VALUE, as gh-ost's users write it.
	words = append(strings.SplitN(words[0], "=", 2), words[1:]...)
	if words[0] == "help" {
		return c.help()
	}
	for _, command := range c {
		if command.Name != words[0] {
			continue
		}
		args := words[1:]
		if len(args) != len(command.Args) {
			return failure(fmt.Errorf("%s: want %s", command.Name, command.usage()))
		}
		answer, err := command.Run(ctx, args)
		if err != nil {
			return failure(fmt.Errorf("%s: %w", command.Name, err))
		}
		return answer
	}
	return failure(fmt.Errorf("unknown command %q; %s", words[0], c.known()))
}

func (c Commands) known() string {
	names := []string{"help"}
	for _, command := range c {
		names = append(names, command.Name)
	}
	return "there are " + strings.Join(names, ", ")
}

func (c Commands) help() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%-16s %s", "help", "this list")
	for _, command := range c {
		fmt.Fprintf(&text, "\n%-16s %s", command.usage(), command.Help)
	}
	return text.String()
}

func (c Command) usage() string { return strings.Join(append([]string{c.Name}, c.Args...), " ") }

// failed is what the answer to a command that did nothing starts with.
const failed = "error: "

func failure(err error) string { return failed + err.Error() }
