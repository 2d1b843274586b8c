package graph

import (
	"context"
	"net/http"
	"time"

	"bankgraph/core"
)

// Fieldwise is New with every operation executed by gqlgen, field by field.
func Fieldwise(c *core.Core) http.Handler {
	return serve(c, Options{RequestID: func(context.Context) string { return "" }, Deadline: 10 * time.Second}, fieldwise(c))
}
