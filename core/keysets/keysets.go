package keysets

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Service moves banks to new keys.
type Service struct {
	db     *db.DB
	keys   *seal.Keys
	now    func() time.Time
	warned sync.Map // banks with keys that one value of theirs names
}

// New makes the service.
func New(d *db.DB, keys *seal.Keys, now func() time.Time) *Service {
	return &Service{db: d, keys: keys, now: now}
}

// batch is how many rows one transaction reads, and at most locks, in the first pass over a table.
const batch = 250

// mostBytes is after how many bytes of sealed values a window ends, however few rows they are: a file of a
// network takes megabytes.
const mostBytes = 8 << 20

// Batch is what one transaction did.
type Batch struct {
	Moved   int   // rows
	Done    bool  // nothing is left to move
	Idle    bool  // another worker is moving the bank, or what is left cannot be moved now
	Trouble error // why rows could not be moved
}

// Move moves some rows of the caller's bank to the primary keys, if old keys are in use. It stores how far it
// came, and the next call, by any worker, continues there. It skips rows that are locked.
func (s *Service) Move(ctx context.Context) (did Batch, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return Batch{}, err
	}
	info := s.keys.Info()
	if !info.Has(seal.Old) {
		return Batch{Done: true}, nil
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		did = Batch{}
		mine, err := db.KeysetMove.TryTx(ctx, tx, int64(caller.Tenant))
		if err != nil || !mine {
			did.Idle = true
			return err
		}
		all, err := progressTx(ctx, tx, caller.Tenant)
		if err != nil {
			return err
		}
		t, p := s.next(info, caller.Tenant, all)
		switch {
		case p == nil:
			did.Done = true
			return nil
		case p.resting(s.now()):
			did.Idle = true
			return nil
		}
		return s.moveTx(ctx, tx, caller, info, t, p, all, &did)
	})
	if err != nil {
		return Batch{}, fmt.Errorf("move bank %d to new keys: %w", caller.Tenant, err)
	}
	return did, nil
}

// Progress returns how far the tables of the caller's bank have come; empty before its first move.
func (s *Service) Progress(ctx context.Context) ([]*Progress, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	all, err := progressTx(ctx, s.db, caller.Tenant)
	for _, p := range all {
		if err == nil {
			err = s.db.NewRaw(`SELECT count(*) FROM ? WHERE tenant = ?`, bun.Ident(p.Of), caller.Tenant).Scan(ctx,
				&p.Rows)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read how far bank %d has come: %w", caller.Tenant, err)
	}
	return all, nil
}

func progressTx(ctx context.Context, tx bun.IDB, bank access.Tenant) (all []*Progress, err error) {
	err = tx.NewSelect().Model(&all).Where("r.tenant = ?", bank).Scan(ctx)
	slices.SortFunc(all, func(a, b *Progress) int { return position(a.Of) - position(b.Of) })
	return all, err
}

func position(name string) int {
	return slices.IndexFunc(tables, func(t table) bool { return t.name == name })
}

// of reports whether the progress is that of a move to these primary keys.
func (p *Progress) of(info seal.Info) bool {
	sealing, searching := info.Primaries()
	return p.Sealing == int64(sealing) && p.Searching == int64(searching)
}

// next returns the first table that is not done, preferring those that are not resting; nil if all are done.
func (s *Service) next(info seal.Info, bank access.Tenant, all []*Progress) (found *table, at *Progress) {
	for i := range tables {
		t := &tables[i]
		n := slices.IndexFunc(all, func(p *Progress) bool { return p.Of == t.name && p.of(info) })
		var p *Progress
		switch {
		case n < 0:
			sealing, searching := info.Primaries()
			p = &Progress{
				Tenant: bank, Of: t.name, Sealing: int64(sealing), Searching: int64(searching), Pass: 1,
				StartedAt: s.now(),
			}
		case all[n].FinishedAt != nil:
			continue
		default:
			p = all[n]
		}
		if at == nil || !p.resting(s.now()) {
			found, at = t, p
		}
		if !p.resting(s.now()) {
			break
		}
	}
	return found, at
}

// moveTx reads the next rows of a table, and moves those that need it.
func (s *Service) moveTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, info seal.Info, t *table, p *Progress,
	all []*Progress, did *Batch,
) error {
	if !slices.ContainsFunc(all, func(p *Progress) bool { return p.of(info) }) {
		if err := recordTx(ctx, tx, caller, "beginKeyRotation", info, 0); err != nil {
			return err
		}
	}
	if p.After == "" {
		p.LeftOver = 0
	}
	size := batch
	if p.Pass > 1 { // few rows are left to lock
		size = scanned
	}
	rows, last, ends, err := window(ctx, tx, t, caller.Tenant, p.After, size)
	if err != nil {
		return err
	}
	p.After, p.Looked = last, p.Looked+int64(len(rows))
	stale := slices.DeleteFunc(slices.Clone(rows), func(v values) bool { return t.current(s.keys, v) })
	moved, err := s.renewTx(ctx, tx, t, caller.Tenant, stale, did)
	if err != nil {
		return err
	}
	did.Moved = moved
	p.Found, p.LeftOver, p.Moved = p.Found+int64(len(stale)), p.LeftOver+int64(len(stale)-moved),
		p.Moved+int64(moved)
	if p.UpdatedAt = s.now(); ends {
		p.pass(p.UpdatedAt)
	}
	if _, err := tx.NewInsert().Model(p).On("CONFLICT (tenant, of) DO UPDATE").Returning("NULL").
		Exec(ctx); err != nil {
		return err
	}
	now := []*Progress{p}
	for _, other := range all {
		if other.Of != p.Of && other.of(info) {
			now = append(now, other)
		}
	}
	if _, after := s.next(info, caller.Tenant, now); after != nil {
		return nil
	}
	did.Done = true
	total := int64(0)
	for _, of := range now {
		total += of.Moved
	}
	return recordTx(ctx, tx, caller, "endKeyRotation", info, total)
}

// window returns the next rows of a table, in order of key: as many as size, or until their sealed values take
// mostBytes. ends reports that the table has no more.
func window(
	ctx context.Context, tx bun.IDB, t *table, bank access.Tenant, after string, size int,
) (found []values, last string, ends bool, err error) {
	if after == "" {
		after = t.first()
	}
	text := fmt.Sprintf(`SELECT %s FROM %s WHERE tenant = ?0 AND %s > %s AND %[3]s <= (
		  SELECT max(key) FROM (
		    SELECT key, sum(bytes) OVER (ORDER BY key) - bytes AS ahead FROM (
		      SELECT %[3]s AS key, %[5]s AS bytes FROM %[2]s WHERE tenant = ?0 AND %[3]s > %[4]s
		      ORDER BY %[3]s LIMIT ?2) AS next) AS summed WHERE ahead < ?3)
		ORDER BY %[3]s`, t.selected(), t.name, t.key, t.cast("?1"), t.bytes())
	if found, err = read(ctx, tx, t, text, bank, after, size, mostBytes); err != nil {
		return nil, "", false, err
	}
	bytes := 0
	for _, v := range found {
		for _, pair := range v.pairs {
			bytes += len(pair[0])
		}
		after = v.key
	}
	return found, after, len(found) < size && bytes < mostBytes, nil
}

func read(
	ctx context.Context, tx bun.IDB, t *table, text string, parameters ...any,
) (found []values, err error) {
	rows, err := tx.QueryContext(ctx, text, parameters...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		v := values{pairs: make([][2][]byte, len(t.columns))}
		targets := []any{&v.key}
		for i := range v.pairs {
			targets = append(targets, &v.pairs[i][0], &v.pairs[i][1])
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	return found, rows.Err()
}

// renewTx locks rows, except those that others have locked, and moves them to the primary keys. Their content
// stays the same, so only the sealed bytes and hashes change.
func (s *Service) renewTx(
	ctx context.Context, tx bun.Tx, t *table, bank access.Tenant, stale []values, did *Batch,
) (moved int, err error) {
	if len(stale) == 0 {
		return 0, nil
	}
	keys := make([]string, len(stale))
	for i, v := range stale {
		keys[i] = v.key
	}
	text := fmt.Sprintf(
		"SELECT %s FROM %s WHERE tenant = ? AND %s IN ? ORDER BY %[3]s FOR NO KEY UPDATE SKIP LOCKED",
		t.selected(), t.name, t.key)
	locked, err := read(ctx, tx, t, text, bank, bun.Tuple(keys))
	if err != nil {
		return 0, err
	}
	renewed := make([]values, 0, len(locked))
	for _, v := range locked {
		fresh, err := t.renew(s.keys, bank, v)
		if err != nil && t.earlier != nil {
			uid, _ := strconv.ParseInt(v.key, 10, 64)
			from, failed := t.earlier(ctx, tx, bank, uid)
			if failed != nil {
				return 0, failed
			}
			fresh, err = t.renew(s.keys, bank, v, from...)
		}
		if err != nil {
			did.Trouble = fmt.Errorf("%s %s: %w", t.name, v.key, err)
			continue
		}
		renewed = append(renewed, fresh)
	}
	return len(renewed), t.writeTx(ctx, tx, bank, renewed)
}

// writeTx writes locked rows in one statement.
func (t *table) writeTx(ctx context.Context, tx bun.Tx, bank access.Tenant, rows []values) error {
	if len(rows) == 0 {
		return nil
	}
	keys := make([]string, len(rows))
	for i, v := range rows {
		keys[i] = v.key
	}
	parameters, sets, names, arrays := []any{bank, keys[0], keys[len(keys)-1], keys}, []string{},
		[]string{"key"}, []string{"$4::text[]"}
	add := func(column, kind, as string, value func(values) []byte) {
		all := make([][]byte, len(rows))
		for i, v := range rows {
			all[i] = value(v)
		}
		parameters = append(parameters, all)
		name := fmt.Sprintf("v%d", len(parameters))
		arrays, names = append(arrays, fmt.Sprintf("$%d::%s", len(parameters), kind)), append(names, name)
		sets = append(sets, fmt.Sprintf("%s = %s", column, fmt.Sprintf(as, "v."+name)))
	}
	for i, c := range t.columns {
		as := "%s"
		if c.report {
			as = "convert_from(%s, 'UTF8')::jsonb"
		}
		add(c.sealed, "bytea[]", as, func(v values) []byte { return v.pairs[i][0] })
		if c.hash != "" {
			add(c.hash, "bytea[]", "%s", func(v values) []byte { return v.pairs[i][1] })
		}
	}
	// BETWEEN keeps every plan of the join from reading more of the bank than these rows span.
	text := fmt.Sprintf(
		"UPDATE %s AS t SET %s FROM unnest(%s) AS v(%s) WHERE t.tenant = $1 AND t.%s = %s "+
			"AND t.%[5]s BETWEEN %[7]s AND %[8]s",
		t.name, strings.Join(sets, ", "), strings.Join(arrays, ", "), strings.Join(names, ", "), t.key,
		t.cast("v.key"), t.cast("$2"), t.cast("$3"))
	done, err := tx.Tx.ExecContext(ctx, text, parameters...)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || int(n) != len(rows) {
		return fmt.Errorf("wrote %d of %d rows of %s: %w", n, len(rows), t.name, err)
	}
	return nil
}

// recordTx records that a bank begins or ends a rotation; its rows get no entries.
func recordTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, action string, info seal.Info, moved int64,
) error {
	sealing, searching := info.Primaries()
	after := map[string]any{"sealing": sealing, "searching": searching}
	if action == "endKeyRotation" {
		after["rows"] = moved
	}
	entry := audit.Entry{
		Action: action, Decision: audit.Done, Object: "keyset",
		UID: fmt.Sprint(sealing),
	}.By(caller)
	entry.Before = json.RawMessage(`{}`)
	var err error
	if entry.After, err = json.Marshal(after); err != nil {
		return err
	}
	return audit.WriteTx(ctx, tx, entry)
}
