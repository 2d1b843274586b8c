package model

import "bankgraph/core/payments"

// PaymentPreview is what would become of a payment, with its faults as callers read them.
type PaymentPreview struct {
	*payments.Preview
	Faults, Warnings []*PaymentFault
}

// Rails returns the networks of the payment's speed.
func (v *PaymentPreview) Rails() (all []*payments.RailChoice) {
	for i := range v.Preview.Rails {
		all = append(all, &v.Preview.Rails[i])
	}
	return all
}

// Limits returns the limits that the payment would be tested against.
func (v *PaymentPreview) Limits() (all []*payments.PlannedLimit) {
	for i := range v.Preview.Limits {
		all = append(all, &v.Preview.Limits[i])
	}
	return all
}

// PaymentFault is a fault as the extensions of an error say it.
type PaymentFault struct {
	Kind, Code, Field, Message, State string
}
