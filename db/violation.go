package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// What an error of the database means. The five answers exclude each other; an error for which none
// says yes is a bug of ours.

// UniqueViolation tells whether the row is already there, and which constraint says so.
func UniqueViolation(err error) (constraint string, ok bool) { return violated(err, "23505") }

// CheckViolation tells whether a CHECK refused the row, and which.
func CheckViolation(err error) (constraint string, ok bool) { return violated(err, "23514") }

func violated(err error, state string) (string, bool) {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == state {
		return refused.ConstraintName, true
	}
	return "", false
}

// IsRetryable tells whether the same transaction, tried again, may well succeed: serialization failure,
// deadlock, and a statement that was prepared before a migration changed its table.
func IsRetryable(err error) bool {
	state := sqlState(err)
	return state == "40001" || state == "40P01" || outdated(err)
}

// IsLockTimeout tells whether somebody else held a lock for too long. It is one of the timeouts.
func IsLockTimeout(err error) bool { return sqlState(err) == "55P03" }

// IsTimeout tells whether the work took or waited too long: a lock, a statement, the caller's deadline.
func IsTimeout(err error) bool {
	switch sqlState(err) {
	case "55P03", "57014":
		return true
	case "":
		return errors.Is(err, context.DeadlineExceeded)
	}
	return false
}

// IsUnavailable tells whether the database cannot work at present: no connection, a lost connection,
// shutting down or starting, a standby, or out of disk, memory or connections. Whether a statement whose connection
// was lost took effect is unknown.
func IsUnavailable(err error) bool {
	state := sqlState(err)
	if state != "" {
		return strings.HasPrefix(state, "08") || strings.HasPrefix(state, "53") ||
			state == "57P01" || state == "57P02" || state == "57P03"
	}
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// sqlState is the five characters that PostgreSQL gave the error, empty if it is not PostgreSQL's.
func sqlState(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}
