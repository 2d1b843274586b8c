// Command bankgraph is a bank's operations service: GraphQL for its staff, REST for its partners, and
// the commands that operate it.
package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	_ "time/tzdata" // banks' zones are known on machines without a zone database

	"github.com/alecthomas/kong"

	"bankgraph/db"
)

func main() {
	polite := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		polite = append(polite, syscall.SIGHUP) // of a terminal that closes, or somebody who wants files read anew
	}
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, polite...)
	// The first signal asks politely. Signals have their usual effect again before anybody can see that: the
	// second ends the program at once.
	go func() {
		<-signals
		signal.Stop(signals)
		if len(signals) > 0 { // the second was as quick
			os.Exit(1)
		}
		stop()
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run parses the arguments, runs the command that they choose, and returns the exit status.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	var p program
	helped := false
	parser, err := kong.New(&p,
		kong.Name("bankgraph"),
		kong.Description("A bank's operations service: one core, GraphQL for staff, REST for partners."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(out, errs),
		kong.Exit(func(int) { helped = true }),
		kong.Vars{"data": defaultData(), "version": version()},
	)
	if err != nil {
		fmt.Fprintln(errs, "bankgraph:", err)
		return 2
	}
	if len(args) > 0 && args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	} else if len(args) == 1 && args[0] == "version" {
		args = []string{"--version"}
	}
	chosen, err := parser.Parse(args)
	if helped {
		return 0
	}
	warnUnread(errs, parser)
	if err != nil {
		misused(printable{errs}, err)
		return 2
	}
	said := &printed{Writer: printable{out}}
	chosen.BindTo(ctx, (*context.Context)(nil))
	chosen.Bind(&p.settings, &terminal{out: said, errs: errs})
	err = chosen.Run()
	if err == nil && said.failed != nil {
		err = fmt.Errorf("the command has done its work, but could not write all that it says: %w", said.failed)
	}
	if err != nil {
		explain(ctx, errs, &p.settings, err)
		return 1
	}
	return 0
}

// version names the commit that the program was built from, where the build knew it, and what else operators
// ask for.
func version() string {
	built := "of an unknown commit"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		built = info.Main.Version
	}
	return fmt.Sprintf("bankgraph %s, schema %s, %s", built, db.LatestVersion(), runtime.Version())
}

// terminal is where a command writes: what it was asked for to out, everything else to errs.
type terminal struct{ out, errs io.Writer }

// printed is a writer that remembers its first failure: who is shown a secret once, and does not get it, must
// hear of that.
type printed struct {
	io.Writer
	mu     sync.Mutex
	failed error
}

func (p *printed) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, err := p.Writer.Write(text)
	p.failed = cmp.Or(p.failed, err)
	return n, err
}

// printable is a writer without control characters: what callers and operators have named things by, or a
// file says, is shown on terminals, which obey them.
type printable struct{ io.Writer }

func (p printable) Write(text []byte) (int, error) {
	clean := bytes.Clone(text)
	for i, b := range clean {
		if b < ' ' && b != '\n' && b != '\t' || b == 0x7f {
			clean[i] = '?'
		}
	}
	if _, err := p.Writer.Write(clean); err != nil {
		return 0, err
	}
	return len(text), nil
}
