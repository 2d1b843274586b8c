package main

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestWorkersSealRegulatoryEntries(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	const contacts = 1100 // more than are sealed at once
	_, err := d.Exec(
		`WITH c AS (INSERT INTO customers (tenant, uid, owner, legal_name, short_name, type, status,
			relationship_type)
			SELECT id, 1000001, 0, 'Acme', 'acme', 'Corporate', 'Active', 'Customer' FROM tenants
			  RETURNING tenant, uid)
		INSERT INTO contacts (tenant, uid, customer, name, bank_account_number_sealed, bank_account_number_hash,
		  bank_account_number_last4, regulatory_reporting)
		SELECT tenant, n, uid, 'Harbor', '', '', '', '[{"key": "TaxId", "value": "914820033"}]'
		FROM c, generate_series(1, ?) AS n`, contacts)
	if err != nil {
		t.Fatal(err)
	}
	w := p.work()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var clear, sealed int
		err := d.NewRaw(`SELECT count(*) FILTER (WHERE k::text LIKE '%914820033%'),
			count(*) FILTER (WHERE regulatory_reporting @@ 'exists($[0].sealed) && $[0].last4 == "0033"'
				AND version = 1) FROM contacts AS k`).Scan(context.Background(), &clear, &sealed)
		if err != nil {
			t.Fatal(err)
		}
		if clear == 0 && sealed == contacts {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d are in the clear, %d sealed\n%s", clear, sealed, w.log)
		}
	}
	if log := w.log.String(); strings.Contains(log, "914820033") || strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("log:\n%s", log)
	}
}
