package main

import (
	"strings"
	"testing"
	"time"
)

// stalled is a reader of the log that reads nothing until it is released.
type stalled struct {
	buffer
	release chan struct{}
}

func (s *stalled) Write(line []byte) (int, error) {
	<-s.release
	return s.buffer.Write(line)
}

func TestAReaderWhoStopsReadingTheLogHoldsUpNothing(t *testing.T) {
	t.Parallel()
	reader := &stalled{release: make(chan struct{})}
	lines := inBackground(reader)
	log := logThrough(lines, reader)
	began := time.Now()
	for range mostLines + 100 {
		log.Info("a line")
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("lines that nobody reads take %s", took)
	}
	close(reader.release)
	lines.close()
	text := reader.String()
	if n := strings.Count(text, "a line"); n < mostLines || n > mostLines+1 {
		t.Errorf("%d lines of those that fit the queue were written", n)
	}
	if !strings.Contains(text, `"nobody read the log: lines were lost","lines":`) {
		t.Error("nothing tells that lines were lost")
	}
}

// At the end, waiting lines are written, but the program does not wait for a reader that never reads.
func TestTheEndOfTheLogIsWritten(t *testing.T) {
	t.Parallel()
	var reader buffer
	lines := inBackground(&reader)
	for range 100 {
		logThrough(lines, &reader).Info("a line")
	}
	lines.close()
	if n := strings.Count(reader.String(), "a line"); n != 100 {
		t.Errorf("%d of 100 lines were written", n)
	}
	never := inBackground(&stalled{release: make(chan struct{})})
	_, _ = never.Write([]byte("a line"))
	never.close()
}
