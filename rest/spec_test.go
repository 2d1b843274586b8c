package rest_test

import (
	"net/http"
	"testing"
)

func checked(_ testing.TB, h http.Handler) http.Handler { return h }
