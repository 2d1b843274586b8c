package demo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/demo"
	"bankgraph/core/files"
	"bankgraph/core/page"
)

// The samples that the reference offers are of the demo bank's first customer, and can be paid as they are.
func TestTheSamplesOfBulkFilesHaveNoFaults(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{})
	operator, ctx := access.Operator(t.Context(), tenant, "", nil), staff(t.Context(), tenant)
	if err := demo.Directory(access.Operator(t.Context(), 0, "", nil), c); err != nil {
		t.Fatal(err)
	}
	payments := map[string]int32{"ach.txt": 2, "csv.csv": 2, "fedwire.txt": 1, "rtp.csv": 2, "template.csv": 0}
	samples, err := os.ReadDir("../../rest/docs/samples")
	if err != nil || len(samples) != len(payments) {
		t.Fatalf("%d samples (%v)", len(samples), err)
	}
	for _, sample := range samples {
		content, err := os.ReadFile(filepath.Join("../../rest/docs/samples", sample.Name()))
		if err != nil {
			t.Fatal(err)
		}
		kind, err := files.ParseFileType("fileType", strings.TrimSuffix(sample.Name(), filepath.Ext(sample.Name())))
		if sample.Name() == "template.csv" {
			kind, err = files.CSV, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Files.Upload(ctx, files.Upload{
			Customer: demo.First, Type: kind, Open: files.OpenText(sample.Name(), strings.NewReader(string(content))),
		}, changes.RequestOptions{})
		if err != nil {
			t.Fatalf("%s: %v", sample.Name(), err)
		}
	}
	for checked := 1; checked > 0; {
		if checked, err = c.Files.Check(operator); err != nil {
			t.Fatal(err)
		}
	}
	found, err := c.Files.Page(ctx, files.FileSearch{Customer: demo.First}, page.First(20), access.ViewFiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found.Items {
		if want, sample := payments[f.Name]; sample && (f.Valid != want || f.Failed != 0) {
			lines, err := c.Files.PaymentsOf(ctx, f.UID, page.First(10))
			t.Errorf("%s: %d can be paid and %d not, %s %v", f.Name, f.Valid, f.Failed, f.RejectReason, err)
			for _, l := range lines.Items {
				t.Errorf("  %v", l.Faults())
			}
		} else if sample {
			delete(payments, f.Name)
		}
	}
	if len(payments) > 0 {
		t.Errorf("not found: %v", payments)
	}
}
