package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"bankgraph/core/fault"
)

const (
	// in bytes: far more than any body needs, while 200 at once still take little memory
	mostBody  = 64 << 10
	mostDepth = 32 // nested objects and arrays
)

var (
	errMediaType = fault.New(fault.Invalid, "request.media_type",
		"the content type must be application/json, in UTF-8 and not compressed")
	errTooLarge = fault.New(fault.Invalid, "request.too_large", "the body must not be larger than 64 KiB")
)

// wholeBody is what faults name that no field of the body is to blame for.
const wholeBody = "body"

func malformed(message string) error {
	return fault.Field("request", wholeBody, fault.Malformed, message)
}

// object is a JSON object: its values are string, json.Number, bool, nil, object or []any. Names must match
// exactly, unlike in encoding/json's structs, and a name that is given twice is refused.
type object map[string]any

// bodyOf reads the JSON object of a request. Without a body it is empty.
func bodyOf(r *http.Request) (object, error) {
	value, there, err := valueOf(r)
	if !there || err != nil {
		return object{}, err
	}
	body, ok := value.(object)
	if !ok {
		return nil, malformed("must be a JSON object")
	}
	return body, nil
}

// listOf reads the JSON array of a request.
func listOf(r *http.Request) ([]any, error) {
	value, _, err := valueOf(r)
	if err != nil {
		return nil, err
	}
	body, ok := value.([]any)
	if !ok {
		return nil, malformed("must be a JSON array")
	}
	return body, nil
}

// valueOf reads the JSON value of a request. there is false if there is no body.
func valueOf(r *http.Request) (value any, there bool, err error) {
	if r.ContentLength > mostBody {
		return nil, false, errTooLarge // before any of it is read
	}
	text, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, mostBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, false, errTooLarge
	case errors.Is(err, context.DeadlineExceeded):
		return nil, false, err // the bank is busy; the caller made no mistake
	case err != nil:
		return nil, false, malformed("could not be read")
	case len(text) == 0: // whatever its type would be
		return nil, false, nil
	case !isJSON(r.Header):
		return nil, false, errMediaType
	case !utf8.Valid(text):
		return nil, false, malformed("must be UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	value, err = next(decoder, 0)
	if err != nil {
		return nil, false, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, false, malformed("must be one JSON value and nothing after it")
	}
	return value, true, nil
}

func isJSON(h http.Header) bool {
	kind, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	encoding := h.Get("Content-Encoding")
	switch strings.ToLower(parameters["charset"]) {
	case "", "utf-8", "utf8": // many clients leave out the hyphen
	default:
		return false
	}
	return err == nil && kind == "application/json" &&
		(encoding == "" || strings.EqualFold(encoding, "identity"))
}

// next reads one value of any kind.
func next(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, malformed("must be well-formed JSON")
	}
	if depth > mostDepth {
		return nil, malformed("must not be nested deeper than 32 levels")
	}
	switch token {
	case json.Delim('{'):
		return nextObject(d, depth+1)
	case json.Delim('['):
		return nextArray(d, depth+1)
	}
	return token, nil
}

func nextObject(d *json.Decoder, depth int) (any, error) {
	members := object{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, malformed("must be well-formed JSON")
		}
		name, _ := token.(string)
		if _, twice := members[name]; twice {
			return nil, malformed("must not name a field twice")
		}
		if members[name], err = next(d, depth); err != nil {
			return nil, err
		}
	}
	return members, end(d)
}

func nextArray(d *json.Decoder, depth int) (any, error) {
	var items []any
	for d.More() {
		item, err := next(d, depth)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, end(d)
}

// end reads the bracket that closes an object or array.
func end(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return malformed("must be well-formed JSON")
	}
	return nil
}
