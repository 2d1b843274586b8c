package transport

import (
	"mime"
	"strconv"
	"strings"
)

// mediaType is a media type of answers.
type mediaType string

const (
	graphqlResponse mediaType = "application/graphql-response+json"
	plainJSON       mediaType = "application/json"
	eventStream     mediaType = "text/event-stream"
)

func (m mediaType) contentType() string { return string(m) + "; charset=utf-8" }

// prefersStream reports whether a request wants its answer as text/event-stream rather than as JSON: by
// quality, and among equals by which is named first. Clients that name it on every request, after JSON, get
// JSON.
func prefersStream(accept []string) bool {
	ranges := strings.Join(accept, ",")
	stream, named := quality(ranges, eventStream)
	if named != byName || stream == 0 {
		return false
	}
	for _, media := range []mediaType{graphqlResponse, plainJSON} {
		if q, _ := quality(ranges, media); q > stream {
			return false
		} else if q == stream && before(ranges, media, eventStream) {
			return false
		}
	}
	return true
}

// before reports whether the closest range that matches one type is named before the other type.
func before(ranges string, one, other mediaType) bool {
	_, closest := quality(ranges, one)
	for each := range strings.SplitSeq(ranges, ",") {
		name, _, err := mime.ParseMediaType(each)
		switch {
		case err != nil:
		case name == string(other):
			return false
		case closeness(name, one) == closest && closest != unnamed:
			return true
		}
	}
	return false
}

// closeness is how closely a range matches a type.
func closeness(name string, of mediaType) int {
	switch {
	case name == string(of):
		return byName
	case name == "application/*" && of != eventStream:
		return byApplication
	case name == "*/*":
		return byAnything
	}
	return unnamed
}

// These say how closely a range of the Accept header matches a type.
const (
	unnamed = iota
	byAnything
	byApplication
	byName
)

// negotiate picks the media type of the answer from the Accept headers. The highest quality wins, then the
// closest match, then graphql-response+json if both are named, and application/json if neither is. It returns
// false if the caller accepts neither.
func negotiate(accept []string) (mediaType, bool) {
	ranges := strings.Join(accept, ",")
	if strings.TrimSpace(strings.ReplaceAll(ranges, ",", " ")) == "" {
		return plainJSON, true
	}
	jsonQuality, jsonCloseness := quality(ranges, plainJSON)
	gqlQuality, gqlCloseness := quality(ranges, graphqlResponse)
	switch {
	case jsonQuality == 0 && gqlQuality == 0:
		return plainJSON, false
	case gqlQuality != jsonQuality:
		if gqlQuality > jsonQuality {
			return graphqlResponse, true
		}
		return plainJSON, true
	case gqlCloseness > jsonCloseness, gqlCloseness == byName && jsonCloseness == byName:
		return graphqlResponse, true
	}
	return plainJSON, true
}

// quality is the quality, 0 to 1, that the closest matching range gives a type, and how close that match is.
// Malformed ranges are ignored.
func quality(ranges string, of mediaType) (best float64, closest int) {
	for one := range strings.SplitSeq(ranges, ",") {
		name, params, err := mime.ParseMediaType(one)
		if err != nil {
			continue
		}
		near := closeness(name, of)
		if near < closest || near == unnamed || !isUTF8(params["charset"]) {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil || !(q >= 0 && q <= 1) {
				continue
			}
		}
		// If a range is given twice, the higher quality counts.
		if near > closest || q > best {
			best, closest = q, near
		}
	}
	return best, closest
}

func isUTF8(charset string) bool {
	return charset == "" || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8")
}
