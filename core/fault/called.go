package fault

import (
	"errors"
	"strings"
)

// Called names the fields of an error as a face of the bank calls them, where it calls them otherwise than
// core does. What is below a field, legalAddress.city or limits[0].value, moves along with it. Without faults
// in it an error stays as it is.
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

// called looks for the longest beginning of a field that has another name.
func called(field string, names map[string]string) string {
	for end := len(field); end > 0; end = strings.LastIndexAny(field[:end], ".[") {
		if name, other := names[field[:end]]; other {
			return name + field[end:]
		}
	}
	return field
}
