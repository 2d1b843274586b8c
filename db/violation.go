package db

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// What an error of the database means. An error that none of these functions recognizes is a defect of the
// program.

// UniqueViolation reports whether a unique constraint refused the row, and which.
func UniqueViolation(err error) (constraint string, ok bool) { return violated(err, "23505") }

// CheckViolation reports whether a CHECK refused the row, and which.
func CheckViolation(err error) (constraint string, ok bool) { return violated(err, "23514") }

func violated(err error, state string) (string, bool) {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == state {
		return refused.ConstraintName, true
	}
	return "", false
}

// IsRetryable reports whether the same transaction may succeed if it is tried again: after a serialization
// failure, a deadlock, or a statement that was prepared before a migration changed its table.
func IsRetryable(err error) bool {
	state := sqlState(err)
	return state == "40001" || state == "40P01" || outdated(err)
}

// IsLockTimeout reports whether somebody else held a lock for too long. It is one of the timeouts.
func IsLockTimeout(err error) bool { return sqlState(err) == "55P03" }

// IsTimeout reports whether the work took or waited too long: for a lock, a statement, or the caller's
// deadline.
func IsTimeout(err error) bool {
	switch sqlState(err) {
	case "55P03", "57014":
		return true
	case "":
		return errors.Is(err, context.DeadlineExceeded)
	}
	return false
}

// IsUnavailable reports whether the database cannot work at present: no connection, whatever the server gives
// as the reason, a lost connection, shutting down or starting, a standby, or out of disk, memory or
// connections. If the connection was lost, it is not known whether the statement took effect.
func IsUnavailable(err error) bool {
	var connect *pgconn.ConnectError
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return errors.As(err, &connect) || away(said) || strings.HasPrefix(said.Code, "53") ||
			hungUp(said) && !IsRetryable(err)
	}
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// away reports whether the server, or a pooler before it, says that it is not there: it starts or stops, or
// the connection to it is lost.
func away(said *pgconn.PgError) bool {
	return strings.HasPrefix(said.Code, "08") ||
		said.Code == "57P01" || said.Code == "57P02" || said.Code == "57P03"
}

// hungUp reports whether the server has ended the connection with what it said.
func hungUp(said *pgconn.PgError) bool { return severity(said) == "FATAL" || panicked(said) }

// panicked reports whether the server as a whole has stopped, in whatever it was doing.
func panicked(said *pgconn.PgError) bool { return severity(said) == "PANIC" }

func severity(said *pgconn.PgError) string { return cmp.Or(said.SeverityUnlocalized, said.Severity) }

// sqlState returns the five characters of PostgreSQL's error code; empty if the error is not PostgreSQL's.
func sqlState(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// IsPassing reports whether work that a worker does in steps failed only for now: the database works again
// later, others are in the way, or the worker is stopping.
func IsPassing(err error) bool {
	return IsUnavailable(err) || IsTimeout(err) || IsRetryable(err) || errors.Is(err, ErrUnknownOutcome) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
