package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-jose/go-jose/v4"
)

// longestLine bounds the length of a line of an export.
const longestLine = 16 << 20 // bytes

// Write writes a chain as an export: one line of JSON for each Line.
func Write(to io.Writer, chain iter.Seq2[Line, error]) error {
	out := bufio.NewWriterSize(to, 1<<16)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for line, err := range chain {
		if err == nil {
			err = lines.Encode(line)
		}
		if err != nil {
			return err
		}
	}
	return out.Flush()
}

// Read reads what Write wrote. It refuses a line with the same content in another JSON form, so that every
// other reader of a verified file sees the same.
func Read(from io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		scanner := bufio.NewScanner(from)
		scanner.Buffer(make([]byte, 1<<16), longestLine)
		var again bytes.Buffer
		lines := json.NewEncoder(&again)
		lines.SetEscapeHTML(false)
		for n := 1; scanner.Scan(); n++ {
			var line Line
			again.Reset()
			err := json.Unmarshal(scanner.Bytes(), &line)
			if err == nil {
				err = lines.Encode(line)
			}
			if err != nil || !bytes.Equal(bytes.TrimSuffix(again.Bytes(), []byte("\n")), scanner.Bytes()) {
				yield(Line{}, fmt.Errorf("line %d is not as an export writes it", n))
				return
			}
			if !yield(line, nil) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			yield(Line{}, fmt.Errorf("read the export: %w", err))
		}
	}
}

// ReadCheckpoints reads checkpoints that were kept outside the database, one in each line, by itself or in a
// line of the log. It skips other lines, and a last line that was cut off.
func ReadCheckpoints(from io.Reader) (kept []Checkpoint, err error) {
	scanner := bufio.NewScanner(from)
	scanner.Buffer(make([]byte, 1<<16), longestLine)
	for scanner.Scan() {
		var line struct {
			Checkpoint
			Logged *Checkpoint `json:"checkpoint"`
		}
		switch err := json.Unmarshal(scanner.Bytes(), &line); {
		case err != nil:
		case line.Logged != nil:
			kept = append(kept, *line.Logged)
		case line.Seq > 0:
			kept = append(kept, line.Checkpoint)
		}
	}
	return kept, scanner.Err()
}

// ReadKeys reads a JSON Web Key Set.
func ReadKeys(from io.Reader) ([]jose.JSONWebKey, error) {
	var set jose.JSONWebKeySet
	if err := json.NewDecoder(from).Decode(&set); err != nil {
		return nil, err
	}
	if len(set.Keys) == 0 {
		return nil, errors.New("there are no keys in it")
	}
	return set.Keys, nil
}
