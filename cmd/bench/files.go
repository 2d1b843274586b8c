package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/core/access"
	"bankgraph/core/demo"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/db"
)

// The account of the demo bank that pays the lines, its customer's ID in ACH, and the bank that all are paid
// to.
var payer = demo.AccountNumber(1, 0)

const (
	payerID = "1234567890"
	payee   = "611090001"
)

// fileFormat is one in which -lines makes a file.
type fileFormat struct {
	write func(to io.Writer, lines int) error
	read  func(from io.Reader, each func(row ...string) error) error // the bare work
}

var fileFormats = map[string]fileFormat{
	"csv": {writeCSV, readCSV}, // of instant payments
	"ach": {writeACH, readACH}, // NACHA
}

// takeFile uploads a file of many payments, and tells how long it takes until all of them are made, and how
// much memory that costs, beside the bare work: the file is parsed, and its rows are copied into a table. If
// others are watched, it tells what they notice.
func takeFile(ctx context.Context, o options, b *bank) error {
	format, known := fileFormats[o.format]
	if !known {
		return fmt.Errorf("-format must be csv or ach, not %s", o.format)
	}
	path := filepath.Join(b.work, "lines.txt")
	if err := writeTo(path, func(w io.Writer) error { return format.write(w, o.lines) }); err != nil {
		return err
	}
	bare, err := copyBare(ctx, b.owner, path, format)
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	if err := b.letPay(ctx); err != nil {
		return err
	}
	neighbour, same, err := b.bystanders(ctx)
	if err != nil {
		return err
	}
	program, err := build(ctx, b.work)
	if err != nil {
		return err
	}
	server, err := serve(program, b.work, append(b.settings(), "BANKGRAPH_RATE=0", "BANKGRAPH_TENANT_RATE=0")...)
	if err != nil {
		return err
	}
	defer server.stop()
	others := map[string]string{}
	if o.watch {
		others = map[string]string{"neighbour": neighbour, "same bank": same}
	}
	watchAll(ctx, server.address, others, time.Second) // to warm up
	before := watchAll(ctx, server.address, others, seconds(o.seconds))
	idle, err := peakOf(server.command.Process.Pid)
	if err != nil {
		return err
	}
	var counting *pgx.Conn
	if o.statements {
		if counting, err = b.countStatements(ctx); err != nil {
			return err
		}
		defer counting.Close(context.WithoutCancel(ctx))
	}
	began := time.Now()
	if err := upload(ctx, "http://"+server.address, o.format, b.writer, path); err != nil {
		return err
	}
	arrived := time.Since(began)
	watched, stop := context.WithCancel(ctx)
	noticed := make(chan map[string]*noticed, 1)
	go func() { noticed <- watchAll(watched, server.address, others, time.Hour) }()
	checked, made, err := b.follow(ctx, began, o.lines)
	stop()
	meanwhile := <-noticed
	if err != nil {
		return err
	}
	if counting != nil {
		if err := reportCosts(ctx, counting); err != nil {
			return err
		}
	}
	peak, err := peakOf(server.command.Process.Pid)
	if err != nil {
		return err
	}
	rate := func(d time.Duration) float64 { return float64(o.lines) / d.Seconds() }
	fmt.Printf("%d lines of %s: arrived after %.1f s, checked after %.1f s, all payments made after %.1f s\n",
		o.lines, o.format, arrived.Seconds(), checked.Seconds(), made.Seconds())
	fmt.Printf("upload to payments made: %.0f lines/s; parsing and COPY alone: %.0f lines/s; ratio %.3f\n",
		rate(made), rate(bare), bare.Seconds()/made.Seconds())
	fmt.Printf("peak memory of the program: %d MiB, %d MiB before the upload\n", peak>>20, idle>>20)
	for name := range others {
		err = errors.Join(err, meanwhile[name].report(name, before[name]))
	}
	return errors.Join(err, b.readAfter(ctx, server.address))
}

func writeTo(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	return errors.Join(write(w), w.Flush(), file.Close())
}

// writeCSV writes so many instant payments.
func writeCSV(to io.Writer, lines int) error {
	w := csv.NewWriter(to)
	_ = w.Write([]string{
		"externalReferenceId", "paymentAmount", "speed", "senderAccountNumber", "receiverName",
		"receiverAccountNumber", "receiverSubAccountType", "receiverBankId", "paymentNotes",
	})
	for n := range lines {
		_ = w.Write([]string{
			"BENCH-" + strconv.Itoa(n), "0.01", "Instant", payer, "Ada Byron",
			strconv.Itoa(4400000000 + n), "Checking", payee, "Line " + strconv.Itoa(n),
		})
	}
	w.Flush()
	return w.Error()
}

func readCSV(from io.Reader, each func(row ...string) error) error {
	r := csv.NewReader(from)
	r.ReuseRecord = true
	for {
		row, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil:
			err = each(row...)
		}
		if err != nil {
			return err
		}
	}
}

// writeACH writes a batch of so many credits.
func writeACH(to io.Writer, lines int) error {
	w, err := nacha.NewWriter(to, nacha.Header{
		Origin: payee, Destination: payee, OriginName: "Bench", DestinationName: "Bank", CreatedAt: time.Now(),
	})
	if err != nil {
		return err
	}
	err = w.Batch(nacha.Batch{
		Class: rails.PPD, CompanyID: payerID, CompanyName: "Bench", Description: "PAYROLL",
		Effective: time.Now().AddDate(0, 0, 1), Bank: payee,
	})
	for n := 0; n < lines && err == nil; n++ {
		_, err = w.Entry(nacha.Entry{
			Account: rails.Checking, Direction: rails.Credit, Amount: money.Of(1, "USD"), Routing: payee,
			Number: strconv.Itoa(4400000000 + n), Name: "Ada Byron", ID: "BENCH-" + strconv.Itoa(n),
		})
	}
	if err == nil {
		_, err = w.Close()
	}
	return err
}

func readACH(from io.Reader, each func(row ...string) error) error {
	_, _, err := nacha.Read(from, func(b nacha.Batch, e nacha.Entry) error {
		return each(string(b.Class), b.CompanyID, string(e.Account), string(e.Direction),
			e.Amount.String(), e.Routing, e.Number, e.Name, e.ID)
	})
	return err
}

// copyBare is the least that any bank would have to do: it parses the file, and copies its rows into a table.
func copyBare(ctx context.Context, url, path string, format fileFormat) (time.Duration, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx,
		`CREATE UNLOGGED TABLE IF NOT EXISTS bench_lines (a text, b text, c text, d text, e text, f text,
		g text, h text, i text); TRUNCATE bench_lines`)
	if err != nil {
		return 0, err
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	began := time.Now()
	var failed error
	next, stop := iter.Pull(func(yield func([]any) bool) {
		failed = format.read(file, func(row ...string) error {
			values := make([]any, len(row))
			for i, field := range row {
				values[i] = field
			}
			if !yield(values) {
				return errors.New("the copy has ended")
			}
			return nil
		})
	})
	defer stop()
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"bench_lines"},
		[]string{"a", "b", "c", "d", "e", "f", "g", "h", "i"},
		pgx.CopyFromFunc(func() ([]any, error) {
			row, _ := next()
			return row, failed
		}))
	took := time.Since(began)
	_, dropped := conn.Exec(ctx, "DROP TABLE bench_lines")
	return took, errors.Join(err, dropped)
}

// letPay reads in the directory of the bank that is paid to, and takes away what keeps one account from so
// many payments: limits, and that a second person is asked.
func (b *bank) letPay(ctx context.Context) error {
	c, err := openCore(b.owner, b.keyset, db.Options{})
	if err != nil {
		return err
	}
	defer c.DB.Close()
	if err := demo.Directory(access.Operator(ctx, 0, "", nil), c); err != nil {
		return err
	}
	var tenant int64
	if err := c.DB.NewRaw("SELECT id FROM tenants WHERE code = 'sandbox'").Scan(ctx, &tenant); err != nil {
		return err
	}
	return c.DB.InTx(ctx, tenant, func(ctx context.Context, tx db.Tx) error {
		_, err := tx.NewRaw("DELETE FROM limits WHERE tenant = ? AND customer = ?", tenant, demo.First).Exec(ctx)
		if err == nil {
			_, err = tx.NewRaw("UPDATE accounts SET default_offset = false WHERE tenant = ? AND customer = ?", tenant,
				demo.First).Exec(ctx)
		}
		if err == nil {
			_, err = tx.NewRaw(`UPDATE accounts SET enable_ach = true, ach_company_id = ?, sec_codes = '{PPD}',
				enable_offset = true, default_offset = true WHERE tenant = ? AND uid =
				(SELECT min(uid) FROM accounts WHERE tenant = ? AND customer = ?)`, payerID, tenant, tenant,
				demo.First).Exec(ctx)
		}
		if err == nil {
			_, err = tx.NewRaw("UPDATE customers SET access_payment_dual_approval = false WHERE tenant = ? "+
				"AND uid = ?",
				tenant, demo.First).Exec(ctx)
		}
		return err
	})
}

// follow waits until the payments of the file are made. It returns since when the file was checked, and they
// were made.
func (b *bank) follow(
	ctx context.Context, began time.Time, lines int,
) (checked, made time.Duration, err error) {
	conn, err := pgx.Connect(ctx, b.owner)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for {
		var file int64
		var status, reason string
		var valid, failed int
		err := conn.QueryRow(ctx, `SELECT uid, status, reject_reason, valid, failed FROM bulk_files
			WHERE name = 'lines.txt' ORDER BY uid DESC LIMIT 1`).
			Scan(&file, &status, &reason, &valid, &failed)
		switch {
		case err != nil:
			return 0, 0, err
		case failed > 0 || status == "FAILED" || status == "PENDING_APPROVAL":
			var fault string
			err := conn.QueryRow(ctx, `SELECT coalesce(max(faults::text), '') FROM bulk_file_lines
				WHERE file = $1 AND status = 'FAILED'`, file).Scan(&fault)
			return 0, 0, errors.Join(err, fmt.Errorf("the file is %s: %d lines have faults, such as %s; %s", status,
				failed, fault, reason))
		case checked == 0 && valid == lines && status != "VALIDATING":
			checked = time.Since(began)
		case status == "PROCESSED":
			return checked, time.Since(began), nil
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// peakOf is the most memory that a process has had, in bytes.
func peakOf(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if kilobytes, is := strings.CutPrefix(line, "VmHWM:"); is {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kilobytes), " kB"), 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("the kernel says nothing of the memory of process %d", pid)
}

// upload sends the file as a form, from the disk.
func upload(ctx context.Context, address, format, token, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	if _, err := form.CreateFormFile("file", filepath.Base(path)); err != nil {
		return err
	}
	body := io.MultiReader(&head, file, strings.NewReader("\r\n--"+form.Boundary()+"--\r\n"))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost,
		address+"/v1/payments/customers/"+demo.First.String()+"/files/"+format, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", form.FormDataContentType())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if said, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the upload is answered %s %.500s (%w)", answer.Status, said, err)
	}
	return nil
}
