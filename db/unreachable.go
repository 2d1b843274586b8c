package db

import (
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Unreachable is a database that no connection could be made to.
type Unreachable struct {
	User, Database string
	At             string // host and port, or the folder of a socket
	Why            string // the last word of the server, or of the network
}

// WhyUnreachable tells what could not be reached and why, where err is about that. PostgreSQL's client tries
// every address with TLS and without, and reports each try; what the server itself said is what helps.
func WhyUnreachable(err error) (u Unreachable, ok bool) {
	var failed *pgconn.ConnectError
	if !errors.As(err, &failed) {
		return u, false
	}
	u = Unreachable{User: failed.Config.User, Database: failed.Config.Database, At: placeOf(failed.Config)}
	var said *pgconn.PgError
	if errors.As(failed, &said) {
		u.Why = said.Message
		return u, true
	}
	lines := strings.Split(failed.Unwrap().Error(), "\n")
	u.Why = lines[len(lines)-1]
	if _, why, named := strings.Cut(u.Why, "): "); named && strings.HasPrefix(u.Why, u.At) {
		u.Why = why // without the address, once more
	}
	return u, true
}

// Is reports whether the URL names this database, for this role.
func (u Unreachable) Is(url string) bool {
	config, err := pgconn.ParseConfig(url)
	return err == nil && url != "" && config.User == u.User && config.Database == u.Database &&
		placeOf(config) == u.At
}

func placeOf(config *pgconn.Config) string {
	if strings.HasPrefix(config.Host, "/") {
		return config.Host
	}
	return net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
}
