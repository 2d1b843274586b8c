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
	return slog.New(requestLog{slog.NewJSONHandler(to, nil)})
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
