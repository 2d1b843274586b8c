package coretest

import (
	"strings"

	"bankgraph/core/access"
)

// Enough finds out which permissions suffice for something, with a function that tries it: each alone, or
// joined by "+" two that do not suffice alone; separated by bars. Two are tried only if all that do not suffice
// alone suffice together.
func Enough(try func(may ...access.Permission) bool) string {
	var enough []string
	var lacking []access.Permission
	for _, one := range access.All {
		if try(one) {
			enough = append(enough, string(one))
		} else {
			lacking = append(lacking, one)
		}
	}
	if !try(lacking...) {
		return strings.Join(enough, "|")
	}
	for i, one := range lacking {
		for _, other := range lacking[i+1:] {
			if try(one, other) {
				enough = append(enough, string(one)+"+"+string(other))
			}
		}
	}
	return strings.Join(enough, "|")
}
