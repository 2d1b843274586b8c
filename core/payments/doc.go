// Package payments moves money: every payment, whoever asks for it and on whatever rail, goes through here.
// There are book transfers, between two accounts in the bank's own books, credits over ACH, instant networks,
// Fedwire and, abroad, SWIFT, to accounts at other banks and from them, and debits over ACH, which collect
// from such accounts. What has settled may be given back, or asked back.
//
// A rule stands in the file of its subject:
//   - a payment and its states: payment.go, details.go, states.go, words.go; how it is read and found:
//     shown.go, search.go, accounts.go, payments.go
//   - what it is decided by: facts.go, read by gather.go; whether money may move, and where it goes:
//     carry.go, fee.go, own.go, preview.go
//   - how every payment begins and is written: write.go; its approval: approvers.go; cancelling: cancel.go
//   - a book transfer: draft.go, transfer.go; a batch of transfers: batch.go; a
//     sweep: standing.go
//   - a payment to another bank: order.go, orders.go; its network: route.go, instrument.go; the banks that a
//     wire goes over: way.go; abroad: international.go; many of a file: bulk.go; small deposits: deposits.go;
//     one that is set aside: repair.go; a remittance that is not in it: remittance.go
//   - a debit, and a request for payment to another bank: debit.go, request.go
//   - an enrolment for a federal benefit: enrolment.go; an entry of ACH to an account abroad: iat.go
//   - a series: recurrence.go, recurrence_write.go, recurrence_change.go, recurrences.go, runs.go
//   - on its day: due.go, next.go; names on lists: screening.go, screening_received.go
//   - the networks and their messages: network.go, exchange.go, messages.go; what they answer: receive.go,
//     known.go, answers.go, outcomes.go, settle.go,
//     snapshots.go; what is not taken: untaken.go
//   - files of ACH: ach.go, files.go, filling.go, redating.go, prenotes.go, sendback.go; notices of change:
//     notices.go, notices_apply.go
//   - what other banks send: credit.go, refused.go, request_received.go, decisions.go; over ACH: entries.go,
//     entries_return.go; on their day: entries_post.go
//   - money back: returns.go, reversals.go, reversing.go, recalls.go
//   - requests for information: information.go, information_receive.go, information_write.go
//   - after a restore: leaving.go, left.go, restored.go; what proves all of it: prove.go
package payments
