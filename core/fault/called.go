package fault

import (
	"errors"
	"strings"
)

// Called renames the fields in an error's faults: names maps core's names to those of a face. A name also
// replaces the beginning of a longer path, such as legalAddress.city or limits[0].value. An error without
// faults is returned unchanged.
func Called(err error, names map[string]string) error {
	var several Faults
	if errors.As(err, &several) {
		renamed := make(Faults, len(several))
		for i, f := range several {
			renamed[i] = f.On(called(f.Field, names))
		}
		return renamed
	}
	if f, ok := Of(err); ok && f.Field != "" {
		return f.On(called(f.Field, names))
	}
	return err
}

// called renames the longest beginning of a field's path that has another name.
func called(field string, names map[string]string) string {
	for end := len(field); end > 0; end = strings.LastIndexAny(field[:end], ".[") {
		if name, other := names[field[:end]]; other {
			return name + field[end:]
		}
	}
	return field
}
