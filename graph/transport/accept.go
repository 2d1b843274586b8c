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
)

func (m mediaType) contentType() string { return string(m) + "; charset=utf-8" }

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
func quality(ranges string, of mediaType) (best float64, closeness int) {
	for one := range strings.SplitSeq(ranges, ",") {
		name, params, err := mime.ParseMediaType(one)
		if err != nil {
			continue
		}
		near := unnamed
		switch name {
		case string(of):
			near = byName
		case "application/*":
			near = byApplication
		case "*/*":
			near = byAnything
		}
		if near < closeness || near == unnamed || !isUTF8(params["charset"]) {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil || !(q >= 0 && q <= 1) {
				continue
			}
		}
		// If a range is given twice, the higher quality counts.
		if near > closeness || q > best {
			best, closeness = q, near
		}
	}
	return best, closeness
}

func isUTF8(charset string) bool {
	return charset == "" || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8")
}
