package coretest

import (
	"testing"

	"bankgraph/core/seal"
	"bankgraph/db"
)

// On returns a new bank in the database at this address, opened with these options; owner is its address for
// the owner of its tables.
func On(t testing.TB, owner, url string, options db.Options) *Bank {
	t.Helper()
	d, err := db.Open(url, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if err := Ahead(owner); err != nil {
		t.Fatal(err)
	}
	return found(t, &opened{DB: d, url: url}, seal.New())
}

// InService returns the bank's database, opened with the bounds that statements have in service.
func (b *Bank) InService() *db.DB {
	b.t.Helper()
	d, err := db.Open(b.opened.url, db.Options{Connections: 4})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = d.Close() })
	return d
}

// Another returns one more bank in the same database, with nothing made in it.
func (b *Bank) Another() *Bank {
	b.t.Helper()
	return found(b.t, b.opened, b.Keys)
}
