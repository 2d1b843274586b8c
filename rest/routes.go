package rest

import "github.com/go-chi/chi/v5"

// routes declares all operations. Each line names the dialect of its answers: envelope, statuses, codes, and
// the phrase that begins its failures. Three generations live side by side (rest/CONTRACT.md, generations).
func (a *api) routes(r chi.Router) {
	r.Get("/customers", a.answer(customersG1.says("Customer search failed"), a.searchCustomersG1))
	r.Post("/customers", a.answer(customersG1.says("Customer creation failed"), a.createCustomerG1))
	r.Get("/customers/{customerUID}", a.answer(customersG1.says("Customer retrieval failed"), a.findCustomerG1))
	r.Put("/customers/{customerUID}", a.answer(customersG1.says("Customer update failed"), a.changeCustomerG1))
	r.Get("/v2/customers", a.answer(customersV2.says("Customer search failed"), a.searchCustomersV2))
	r.Post("/v2/customers", a.answer(customersV2.says("Customer creation failed"), a.createCustomerV2))
	r.Get("/v2/customers/{customerUID}",
		a.answer(customersV2.says("Customer retrieval failed"), a.findCustomerV2))
	r.Put("/v2/customers/{customerUID}",
		a.answer(customersV2.says("Customer update failed"), a.changeCustomerV2))
	r.Get("/v1/customers/lookup/{accountNumber}", a.answer(lookupV1, a.lookUpCustomer))
	r.Post("/v1/customers/{customerUID}/limits", a.answer(limitsV1, a.checkLimits))
	r.Patch("/v1/customers/{customerUID}/limits", a.answer(limitUpdateV1, a.changeLimits))
	r.Post("/v1/customers/{customerUID}/fees", a.answer(feesV1, a.addFeeTier))
	r.Put("/v1/customers/{customerUID}/fees/{feeId}", a.answer(feesV1, a.changeFeeTier))

	r.Get("/v1/customers/{customerId}/signatories", a.answer(signatoriesV1, a.listSignatories))
	r.Post("/v1/customers/{customerId}/signatories", a.answer(signatoriesV1, a.addSignatory))
	r.Patch("/v1/customers/{customerId}/signatories/{signatoryId}",
		a.answer(signatoriesV1, a.changeSignatory))
	r.Delete("/v1/customers/{customerId}/signatories/{signatoryId}",
		a.answer(signatoriesV1, a.removeSignatory))

	// Users and roles. The fixed path of the search comes before paths with an id.
	const people = "/api/user-management/v1/customers/{customerId}"
	r.Post(people+"/users", a.answer(peopleV1, a.createUser))
	r.Post(people+"/users/search", a.answer(peopleV1, a.searchUsers))
	r.Get(people+"/users/{userId}", a.answer(peopleV1, a.findUser))
	r.Put(people+"/users/{userId}", a.answer(peopleV1, a.changeUser))
	r.Put(people+"/users/{userId}/suspend", a.answer(peopleV1, a.suspendUser))
	r.Put(people+"/users/{userId}/activate", a.answer(peopleV1, a.activateUser))
	// Other published texts have PATCH, which answers 200, and a path in the singular (rest/CONTRACT.md,
	// generations).
	r.Patch(people+"/users/{userId}/suspend", a.answer(peopleV1, withOK(a.suspendUser)))
	r.Patch(people+"/users/{userId}/activate", a.answer(peopleV1, withOK(a.activateUser)))
	r.Get("/api/user-management/v1/customer/{customerId}/users/{userId}", a.answer(peopleV1, a.findUser))
	r.Post(people+"/roles", a.answer(peopleV1, a.createRole))
	r.Get(people+"/roles/search", a.answer(peopleV1, a.searchRoles))
	r.Get(people+"/roles/{roleId}", a.answer(peopleV1, a.findRole))

	// Retrieval by contactId is published without a path (rest/CONTRACT.md, generations); this path was
	// chosen here.
	r.Get("/customers/{customerUID}/contacts",
		a.answer(contactsG1.says("Contact search failed"), a.searchContactsG1))
	r.Get("/customers/{customerUID}/contacts/{contactUID}",
		a.answer(contactsG1.says("Contact retrieval failed"), a.findContactG1))
	r.Get("/v2/customers/{customerUID}/contacts",
		a.answer(contactsV2.says("Contact search failed"), a.searchContactsV2))
	r.Get("/v2/customers/{customerUID}/contacts/{contactUID}",
		a.answer(contactsV2.says("Contact retrieval failed"), a.findContactV2("contactUID")))
	r.Get("/v1/customers/{customerUID}/beneficiary/{contactId}",
		a.answer(contactsV2.says("Contact retrieval failed"), a.findContactV2("contactId")))
	r.Post("/customers/{customerUID}/contacts",
		a.answer(contactsG1.says("Contact creation failed"), a.addContactG1))
	r.Put("/customers/{customerUID}/contacts/{contactUID}",
		a.answer(contactsG1.says("Contact update failed"), a.changeContactG1))
	r.Post("/v2/customers/{customerUID}/contacts",
		a.answer(contactsV2.says("Contact creation failed"), a.addContactV2))
	r.Put("/v2/customers/{customerUID}/contacts/{contactUID}",
		a.answer(contactsV2.says("Contact update failed"), a.changeContactV2))
	r.Post("/v1/customers/{customerUID}/beneficiary",
		a.answer(contactsV2.says("Contact creation failed"), a.addBeneficiary))
	r.Patch("/v1/customers/{customerUID}/beneficiary/{contactId}",
		a.answer(contactsV2.says("Contact update failed"), a.changeBeneficiary))

	// The v2 paths of accounts are deprecated in favour of v3, which has no closing, activating and deleting.
	r.Get("/customers/{customerUID}/accounts",
		a.answer(accountsG1.says("Account search failed"), a.searchAccountsG1))
	r.Get("/customers/{customerUID}/accounts/{accountUID}",
		a.answer(accountsG1.says("Account retrieval failed"), a.findAccountG1))
	r.Post("/customers/{customerUID}/accounts",
		a.answer(accountsG1.says("Account creation failed"), a.openAccountG1))
	r.Put("/customers/{customerUID}/accounts/{accountUID}",
		a.answer(accountsG1.says("Account update failed").updates(), a.changeAccountG1))
	r.Delete("/customers/{customerUID}/accounts/{accountUID}",
		a.answer(accountsG1.says("Account deletion failed"), a.deleteAccountG1))
	r.With(deprecated(inV3("/search"))).Get("/v2/customers/{customerUID}/accounts",
		a.answer(accountsV2.says("Account search failed"), a.searchAccountsV2))
	r.With(deprecated(inV3(""))).Get("/v2/customers/{customerUID}/accounts/{accountUID}",
		a.answer(accountsV2.says("Account retrieval failed"), a.findAccountV2))
	r.With(deprecated(inV3(""))).Post("/v2/customers/{customerUID}/accounts",
		a.answer(accountsV2.says("Account creation failed"), a.openAccountV2))
	r.With(deprecated(inV3(""))).Put("/v2/customers/{customerUID}/accounts/{accountUID}",
		a.answer(accountsV2.says("Account update failed").updates(), a.changeAccountV2))
	r.Delete("/v2/customers/{customerUID}/accounts/{accountUID}",
		a.answer(accountsV2.says("Account deletion failed"), a.deleteAccountV2))
	r.Patch("/v2/customers/{customerUID}/accounts/{accountUID}",
		a.answer(accountActionsV2, a.actOnAccountV2))
	r.Post("/v3/customers/{customerUID}/accounts", a.answer(accountsSavedV3, a.openAccountV3))
	r.Patch("/v3/customers/{customerUID}/accounts/{accountUID}",
		a.answer(accountsSavedV3.updates(), a.changeAccountV3))
	r.Post("/v3/customers/{customerUID}/accounts/search", a.answer(accountsV3, a.searchAccountsV3))
	r.Get("/v3/customers/{customerUID}/accounts/{accountUID}",
		a.answer(accountsV3, a.findAccountV3))

	r.Get("/v1/customers/{customerUID}/accounts/{accountUID}/sweeps/{direction}",
		a.answer(sweepsV1, a.findSweep))
	r.Post("/v1/customers/{customerUID}/accounts/{accountUID}/sweeps/{direction}",
		a.answer(sweepsV1, a.setSweep))
	r.Patch("/v1/customers/{customerUID}/accounts/{accountUID}/sweeps/{direction}",
		a.answer(sweepsV1, a.changeSweep))
	r.Delete("/v1/customers/{customerUID}/accounts/{accountUID}/sweeps/{direction}",
		a.answer(sweepsV1, a.removeSweep))

	r.Post("/v2/{customerUID}/virtual-accounts", a.answer(virtualAccountsV2, a.openVirtualAccount))
	r.Get("/v2/{customerUID}/virtual-accounts/{accountNumber}",
		a.answer(virtualAccountsV2, a.findVirtualAccount))
	r.Put("/v2/{customerUID}/virtual-accounts/{accountNumber}",
		a.answer(virtualAccountsV2, a.changeVirtualAccount))
	r.Delete("/v2/{customerUID}/virtual-accounts/{accountNumber}",
		a.answer(virtualAccountsV2, a.closeVirtualAccount))
	r.Post("/v2/virtual-accounts/search", a.answer(virtualAccountsV2, a.searchVirtualAccounts))
	r.Post("/v2/virtual-accounts/transactions/search", a.answer(virtualAccountsV2, a.searchVirtualTransactions))

	r.With(deprecated(bankLookup)).Get("/v1/banks/{routingNumber}", a.answer(routingV1, a.findRoutedBank))
	r.Get("/v1/banks/search/{routingNumber}", a.answer(routingV1, a.searchBanks))
	r.Get("/v1/banks", a.answer(banksV1, a.lookUpBank))
	r.Post("/payments/creditrequest", a.answer(creditsV3, a.creditRequest))
	r.With(deprecated(creditInV4)).Post("/v3/payments/creditrequest", a.answer(creditsV3, a.creditRequest))
	r.Post("/v4/payments/credit", a.answer(creditsV4, a.creditV4))
	r.Post("/v5/payments/credit", a.answer(creditsV4, a.creditV5))
	r.Post("/v4/payments/debit", a.answer(debitsV4, a.debitV4))
	for _, generation := range []string{"/v3", ""} { // the same, under two paths
		r.Post(generation+"/payments/debitrequest", a.answer(debitsV3, a.debitRequest))
		r.Post(generation+"/payments/booktransfer",
			a.answer(bookTransfersV3.says("Book transfer failed"), a.bookTransfer))
		r.Post(generation+"/payments/search", a.answer(paymentsV3.says("Payment search failed"), a.searchPayments))
		r.Get(generation+"/payments/{paymentUID}",
			a.answer(paymentsV3.says("Payment retrieval failed"), a.findPayment))
		r.Put(generation+"/payments/{paymentUID}/cancel",
			a.answer(paymentsV3.says("Payment cancellation failed"), a.cancelPayment))
		r.Put(generation+"/payments/{paymentUID}/return", a.answer(returnsV3, a.returnPayment))
		r.Put(generation+"/payments/{paymentUID}/reverse", a.answer(reversalsV3, a.reversePayment))
	}
	r.Post("/api/gateway/v1/payments/waterfall", a.answer(waterfallsV1, a.runWaterfall))
	r.With(patient).Post("/v1/payments/customers/{customerUID}/files/{fileType}",
		a.answer(uploadsV1, a.uploadFile))
	r.With(removed(removalOfFileSearch, fileSearchInV2)).
		Post("/v1/files/search", a.answer(fileSearch, a.searchFilesV1))
	r.Post("/v2/files/search", a.answer(fileSearch, a.searchFilesV2))
	r.Get("/v1/files/{fileNumber}/payments", a.answer(filePaymentsV1, a.listFilePayments))
	// The oldest paths of files.
	r.With(deprecated(documented)).Get(oldFilesPath+"/supportedFileType",
		a.answer(filePaymentsV1, a.listFileFormats))
	r.With(deprecated(fileSearchInV2)).Get(oldFilesPath+"/{fileNumber}", a.answer(filePaymentsV1, a.findFile))
	r.With(deprecated(uploadInV1), patient).Post(oldFilesPath, a.answer(uploadsV1, a.uploadFileOld))
	r.With(deprecated(fileSearchInV2)).Post(oldFilesPath+"/search", a.answer(fileSearch, a.searchFilesV1))
	r.With(deprecated(approvalInGraphQL)).Put(oldFilesPath+"/{fileNumber}/approve",
		a.answer(fileDecisions, a.approveFile))
	r.With(deprecated(approvalInGraphQL)).Put(oldFilesPath+"/{fileNumber}/reject",
		a.answer(fileDecisions, a.rejectFile))
	r.Post("/v1/rfi/{paymentId}", a.answer(rfiV1, a.requestInformation))
	r.Get("/v1/rfi/{paymentId}", a.answer(rfiV1, a.listInformation))
	r.Put("/v1/recurrences/{recurrenceId}", a.answer(recurrencesV1, a.skipRecurrence))
	r.Patch("/v1/recurrences/{recurrenceId}", a.answer(recurrencesV1, a.changeRecurrence))
	r.Delete("/v1/recurrences/{recurrenceId}", a.answer(recurrencesV1, a.cancelRecurrence))
	r.With(deprecated(recurrenceInV1)).Put("/v4/payments/{paymentUID}/recurring/{recurrenceId}",
		a.answer(recurrencesV4, a.changeRecurrenceV4))
	r.Post("/v2/positivepay/rules/search", a.answer(positiveRuleSearch, a.searchPositiveRules))
	r.With(deprecated(inV3(""))).Post("/v2/positivepay/rules",
		a.answer(positiveRulesSavedV2.says("Positive pay rule creation failed"), a.createPositiveRuleV2))
	r.With(deprecated(nil)).Put("/v2/positivepay/rules",
		a.answer(positiveRulesSavedV2.says("Positive pay rule update failed"), a.changePositiveRuleV2))
	r.Get("/v2/positivepay/rules/{ruleUID}",
		a.answer(positiveRulesV2.says("Positive pay rule retrieval failed"), a.findPositiveRule))
	r.Delete("/v2/positivepay/rules/{ruleUID}",
		a.answer(positiveRulesSavedV2.says("Positive pay rule deletion failed"), a.deletePositiveRule))
	r.Put("/v2/positivepay/rules/{ruleUID}/activate",
		a.answer(positiveRulesSavedV2.says("Positive pay rule activation failed"), a.activatePositiveRule))
	r.Put("/v2/positivepay/rules/{ruleUID}/suspend",
		a.answer(positiveRulesSavedV2.says("Positive pay rule suspension failed"), a.suspendPositiveRule))
	r.Post("/v3/positivepay/rules", a.answer(positiveRulesV3, a.createPositiveRuleV3))
	r.Patch("/v3/positivepay/rules/{ruleUID}", a.answer(positiveRulesV3, a.changePositiveRuleV3))
	r.Post("/v2/positivepay/exception/search", a.answer(exceptionSearchV2, a.searchExceptions))
	r.Put("/v2/positivepay/exception/{paymentId}/approve",
		a.answer(exceptionsV2.says("Exception approval failed"), a.approveException))
	r.Put("/v2/positivepay/exception/{paymentId}/reject",
		a.answer(exceptionsV2.says("Exception rejection failed"), a.rejectException))
	r.With(deprecated(manyApprovals)).Put("/v2/positivepay/exception/approveall",
		a.answer(exceptionsV2.says("Exception approval failed"), a.approveExceptions))
	r.Patch("/v1/positivepay/payments/decisions/{decisionType}", a.answer(decisionsV1, a.decideExceptions))
	r.With(deprecated(manyDecisions)).Put("/v1/positivepay/payments/{paymentId}/decisions/{decisionType}",
		a.answer(oneDecisionV1, a.decideException))
	r.With(deprecated(quoteInV3)).Post("/v2/fx/quote", a.answer(quotesV2, a.quoteV2))
	r.Post("/v3/fx/quote", a.answer(quotesV3, a.quoteV3))
	r.Put("/v2/fx/accept", a.answer(acceptancesV2, a.acceptQuote))
	for _, generation := range []string{"/v2", ""} { // the same, under two paths
		r.Put(generation+"/fx/{quoteUUID}/reject", a.answer(rejectionsV2, a.rejectQuote))
		r.Get(generation+"/fx/{forexContractNo}/cover", a.answer(tradesV2.says("Trade cover failed"), a.coverTrade))
	}
	r.Post("/v2/fx/{forexContractNo}/cover", a.answer(tradesV2.says("Trade cover failed"), a.coverTrade))
	r.Get("/v2/fx/{forexContractNo}", a.answer(tradesV2.says("Trade retrieval failed"), a.findTrade))
	r.Delete("/v2/fx/{forexContractNo}/cancel",
		a.answer(tradesV2.says("Trade cancellation failed"), a.cancelTrade))
	r.Post("/sandbox/incomingcredits", a.answer(playsV1, a.playIncomingCredit))
	r.Post("/sandbox/incomingdebits", a.answer(playsV1, a.playIncomingDebit))
	r.Post("/sandbox/incomingrequests", a.answer(playsV1, a.playIncomingRequest))
	r.Post("/sandbox/payments/{paymentUID}/answer", a.answer(playsV1, a.playAnswer))
	r.Post("/sandbox/payments/{paymentUID}/recall", a.answer(playsV1, a.playRecall))
	r.Post("/sandbox/payments/{paymentUID}/rfi", a.answer(playsV1, a.playInformationRequest))
	r.Get("/sandbox/clock", a.answer(playsV1, a.readClock))
	r.Put("/sandbox/clock", a.answer(playsV1, a.moveClock))
}
