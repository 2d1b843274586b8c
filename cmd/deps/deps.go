//go:build deps

package deps

import (
	_ "github.com/99designs/gqlgen/graphql"
	_ "github.com/99designs/gqlgen/graphql/handler/testserver"
	_ "github.com/alecthomas/kong"
	_ "github.com/bojanz/currency"
	_ "github.com/getkin/kin-openapi/openapi3"
	_ "github.com/getkin/kin-openapi/openapi3filter"
	_ "github.com/go-chi/chi/v5"
	_ "github.com/go-chi/cors"
	_ "github.com/go-chi/httprate"
	_ "github.com/go-jose/go-jose/v4"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/uuid"
	_ "github.com/graph-gophers/dataloader/v7"
	_ "github.com/hashicorp/golang-lru/v2"
	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/uptrace/bun"
	_ "github.com/uptrace/bun/dialect/pgdialect"
	_ "github.com/uptrace/bun/migrate"
	_ "github.com/vektah/gqlparser/v2"
	_ "golang.org/x/crypto/hkdf"
	_ "golang.org/x/sync/errgroup"
	_ "pgregory.net/rapid"
)
