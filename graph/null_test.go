package graph_test

import (
	"encoding/json"
	"strings"
	"testing"

	gql "github.com/vektah/gqlparser/v2/ast"
)

// A client with one document for a whole search form sends null for empty fields.
func TestNullInAFilterNarrowsNothing(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	tried := map[string]bool{}
	try := func(filter, document string) {
		all := b.ask(t, b.staff(), document, "f", map[string]any{}).fine(t)
		nulls := map[string]any{}
		for _, field := range schema.Types[filter].Fields {
			nulls[field.Name] = nil
		}
		if got := b.ask(t, b.staff(), document, "f", nulls).fine(t); got.body != all.body {
			t.Errorf("%s: with nulls %s, without %s", filter, got.body, all.body)
		}
	}
	for _, of := range []string{"Query", "Customer"} {
		for _, field := range schema.Types[of].Fields {
			argument := field.Arguments.ForName("filter")
			if argument == nil {
				continue
			}
			list := field.Name + `(first: 3, filter: $f) { totalCount nodes { uid } }`
			if field.Name == "attention" { // no connection
				list = `attention(first: 3, filter: $f) { items { subject } waiting { kind count } }`
			}
			if of == "Customer" {
				list = `customers(first: 3) { nodes { ` + list + ` } }`
			}
			filter := argument.Type.Name()
			tried[filter] = true
			try(filter, `query($f: `+filter+`) { `+list+` }`)
		}
	}
	tried["WebhookDeliveryFilter"] = true
	try("WebhookDeliveryFilter", `query($f: WebhookDeliveryFilter) { webhooks(first: 3) { nodes {
		deliveries(first: 3, filter: $f) { totalCount nodes { uid } } } } }`)
	tried["BulkFileLineFilter"] = true
	try("BulkFileLineFilter", `query($f: BulkFileLineFilter) { bulkFiles(first: 3) { nodes {
		lines(first: 3, filter: $f) { totalCount nodes { number } } } } }`)
	tried["WaterfallStepFilter"] = true
	try("WaterfallStepFilter", `query($f: WaterfallStepFilter) { waterfalls(first: 3) { nodes {
		steps(first: 3, filter: $f) { totalCount nodes { paymentIndex } } } } }`)
	tried["SweepRunFilter"] = true
	try("SweepRunFilter", `query($f: SweepRunFilter) { customers(first: 3) { nodes { accounts(first: 1) { nodes {
		sweepRuns(first: 3, filter: $f) { totalCount nodes { day } } } } } } }`)
	for _, def := range schema.Types {
		if def.Kind == gql.InputObject && strings.HasSuffix(def.Name, "Filter") && !tried[def.Name] {
			t.Errorf("%s is not tried here", def.Name)
		}
	}
}

func TestAWrongVariableIsNamedInTheMessage(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, one := range []struct {
		variables []any
		says      string
	}{
		{nil, "$uid must be defined"},
		{[]any{"uid", nil}, "$uid cannot be null"},
	} {
		got := b.ask(t, b.staff(), `query($uid: UID!) { customer(by: {uid: $uid}) { uid } }`, one.variables...)
		if mistake := got.one(t); mistake.Message != one.says || mistake.Path != nil {
			t.Errorf("%s", got)
		}
	}
	for number, says := range map[string]string{
		"1.5": "$f cannot use value 1.5 as Int", "-2e0": "$f cannot use value -2e0 as Int",
		"98765432109876543210":  "$f cannot use value 98765432109876543210 as Int",
		strings.Repeat("7", 50): "$f cannot use value " + strings.Repeat("7", 40) + "… as Int",
	} {
		got := b.ask(t, b.staff(), `query($f: Int) { customers(first: $f) { nodes { uid } } }`, "f",
			json.Number(number))
		if mistake := got.one(t); mistake.Message != says || mistake.Path != nil {
			t.Errorf("%s: %s", number, got)
		}
	}
}
