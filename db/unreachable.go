package db

import (
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Unreachable is a database to which no connection could be made.
type Unreachable struct {
	User, Database string
	At             string // host and port, or the folder of a socket
	Why            string // the last message of the server or the network
}

// WhyUnreachable returns what could not be reached and why, if err is about that. The driver tries every
// address with and without TLS and reports each attempt; the server's own message is the useful one.
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
		u.Why = why // without repeating the address
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
