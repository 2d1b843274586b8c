package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"bankgraph/core/fault"
	"bankgraph/db"
)

// explain prints an error. If several fields are wrong, it prints all of them.
func explain(ctx context.Context, errs io.Writer, s *settings, err error) {
	errs = printable{errs}
	var several fault.Faults
	at, unreachable := db.WhyUnreachable(err)
	switch {
	case errors.As(err, &several):
		for _, one := range several {
			fmt.Fprintln(errs, "bankgraph:", one)
		}
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(errs, "bankgraph: stopped before it was done, by a signal")
	case unreachable:
		fmt.Fprintf(errs, "bankgraph: no connection to database %q at %s as role %q%s: %s\n",
			at.Database, at.At, at.User, s.named(at), at.Why)
	default:
		fmt.Fprintln(errs, "bankgraph:", err)
	}
}

// named is the setting that names the database.
func (s *settings) named(at db.Unreachable) string {
	for _, one := range []struct{ setting, url string }{
		{"BANKGRAPH_DATABASE_URL", s.DatabaseURL},
		{"BANKGRAPH_MIGRATE_URL", s.MigrateURL},
		{"BANKGRAPH_READ_URL", s.ReadURL},
	} {
		if at.Is(one.url) {
			return ", which " + one.setting + " names"
		}
	}
	return ""
}

// misused prints what is wrong with the arguments, and which --help tells more.
func misused(errs io.Writer, err error) {
	of := ""
	var wrong *kong.ParseError
	if errors.As(err, &wrong) && wrong.Context != nil && wrong.Context.Selected() != nil {
		of = strings.TrimPrefix(wrong.Context.Selected().Path(), "bankgraph") + " "
	}
	fmt.Fprintf(errs, "bankgraph: %v\nRun \"bankgraph%s--help\" for the %s.\n", err,
		strings.TrimRight(" "+of, " ")+" ", about(of))
}

func about(command string) string {
	if command == "" {
		return "commands and settings"
	}
	return "arguments and settings"
}

// ours is the beginning of the names of all variables for this program.
const ours = "BANKGRAPH_"

// elsewhere are the beginnings of variables that other programs of the repository read.
var elsewhere = []string{"BANKGRAPH_FETCH", "BANKGRAPH_TEST_"}

// warnUnread warns of variables that look like settings but are not, such as misspelt ones.
func warnUnread(errs io.Writer, parser *kong.Kong) {
	known := map[string]bool{}
	_ = kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			for _, name := range flag.Envs {
				known[name] = true
			}
		}
		return next(nil)
	})
	for _, line := range os.Environ() {
		name, _, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, ours) || known[name] ||
			slices.ContainsFunc(elsewhere, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		fmt.Fprintf(errs, "bankgraph: warning: nothing reads %s%s\n", name,
			nearest(name, slices.Sorted(maps.Keys(known))))
	}
}

// nearest returns the known name with the fewest letters to change, if there are few; it is probably meant.
func nearest(name string, known []string) string {
	best, least := "", 4
	for _, one := range known {
		if d := distance(name, one); d < least {
			best, least = one, d
		}
	}
	if best == "" {
		return ": see bankgraph --help for those that count"
	}
	return "; did you mean " + best + "?"
}

// distance is how many letters of a must be changed, added or dropped to make b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
