package main

import (
	"context"
	"io"
	"log/slog"
	"os"
)

// newLog writes lines for people on a terminal, and JSON for machines elsewhere.
func newLog(to io.Writer) *slog.Logger {
	if terminalOf(to) {
		return slog.New(requestLog{slog.NewTextHandler(to, nil)})
	}
	return slog.New(requestLog{slog.NewJSONHandler(to, &slog.HandlerOptions{ReplaceAttr: legible})})
}

// legible writes times that something took as people read them, such as 1.309s: JSON else has a number without its unit.
func legible(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// requestLog adds the request's id to every line that is written while one is answered.
type requestLog struct{ slog.Handler }

func (l requestLog) Handle(ctx context.Context, line slog.Record) error {
	if id := idOf(ctx); id != "" {
		line.AddAttrs(slog.String("request", id))
	}
	return l.Handler.Handle(ctx, line)
}

func (l requestLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestLog{l.Handler.WithAttrs(attrs)}
}

func (l requestLog) WithGroup(name string) slog.Handler { return requestLog{l.Handler.WithGroup(name)} }

func terminalOf(to io.Writer) bool {
	file, ok := to.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device too
	return err != nil || !os.SameFile(info, null)
}
