package graph_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/seal"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// tried says how to try a mutation.
type tried struct {
	needs access.Permission
	input func(customers.UID) string
	asks  string
}

// ofTheBank are the mutations that are about the bank itself, and so about no customer.
var ofTheBank = map[string]bool{"moveClock": true}

// mutations are all mutations: the input of each for a customer or something of it, the permission it needs,
// and the selection of its payload. %K is the place of an idempotency key.
var mutations = map[string]tried{
	"moveClock": {
		access.MoveClock, func(customers.UID) string { return `minutes: 60` }, `clock { target moved }`,
	},
	"addContact": {
		access.ManageContacts, func(c customers.UID) string {
			return fmt.Sprintf(
				`customer: "%s", externalReferenceId: "crm-1", templateName: "Lumen1",
			name: "Lumen Optik GmbH", emailAddress: "post@lumen.example", phoneNumber: "030 901820",
			address: {line1: "Hauptstr. 3", line2: "Hof 2", city: "Berlin", state: "BE", postalCode: "10115",
			countryCode: "DEU", country: "Germany"},
			bank: {country: "Germany", accountNumber: "DE89 3704 0044 0532 0130 00", accountCurrency: "EUR",
			accountType: "Deposit", accountSubType: "Savings", name: "Rhein Bank", nationalCode: "37040044",
			swiftCode: "RHNUDEF0"},
			intermediaryBank: {country: "US", name: "Middle Bank", nationalCode: "611090001",
			swiftCode: "MIDLUS33", coverMessageRequired: true, address: {line1: "1 Wall St", city: "New York",
			postalCode: "10005", countryCode: "US"}, addressLine3: "Desk 3"},
			beneficiaryNotes: "quarterly", otherBankInfo: "none",
			regulatoryReporting: [{key: "taxid", value: "DE1234567"}]`, c)
		},
		`contact { id name status version bank { country accountNumber { masked } accountSubType }
		address { countryCode } phoneNumber
		intermediaryBank { country addressLine3 coverMessageRequired } regulatoryReporting { key value }
		customer { uid } } approval { uid }`,
	},
	"changeContact": {access.ManageContacts, func(c customers.UID) string {
		return fmt.Sprintf(
			`uid: "%s", emailAddress: null, bank: {accountType: "Deposit", accountSubType: "Savings",
				nationalCode: null, swiftCode: "RHNUDEF0"}`, contactOf(c, 0))
	}, `contact { uid emailAddress bank { accountSubType nationalCode swiftCode } version } approval { uid }`},
	"applyNoticeOfChange": {access.ManageContacts, func(c customers.UID) string {
		return fmt.Sprintf(`payment: "%s", code: "C07"`, paymentOf(c, 0))
	}, `contact { uid bank { accountNumber { masked } accountSubType nationalCode } version } approval { uid }`},
	"createCustomer": {
		access.ManageCustomers, func(c customers.UID) string {
			return fmt.Sprintf(
				`externalReferenceId: "crm-2", legalName: "Lakeside Bakery LLC", shortName: "lakeside",
			type: CORPORATE, taxId: "12-3456789", language: "English",
			legalAddress: {line1: "1 Lake Rd", line2: "Back", city: "Erie", state: "PA", postalCode: "16501",
			countryCode: "USA"}, mailAddressSameAsLegal: false,
			costCenter: "CC1", relationshipManager: "MJones", originatingOfficer: "mjones", customerId: "L-1",
			achCompanyId: "1123456780", lei: "DEMO00BNKG0000000127",
			swiftCode: "MUSTDEFF", emailAddress: "office@lakeside.example", phoneNumber: "614 555 0123",
			faxNumber: "x", website: "lakeside.example", logoUrl: "https://lakeside.example/l.png",
			linkedinUrl: "linkedin.example/l", twitterUrl: "twitter.example/l",
			mailingAddress: {line1: "PO Box 1", city: "Erie", postalCode: "16501", countryCode: "US"},
			relationshipType: CUSTOMER,
			parentEntityShortName: "short-%s", profile: {creditClient: true, achNonPrefundLimit: "12.50",
			creditValueAdjustment: "0.25", detailsOfCharge: "sha"}, secCodes: ["ccd"], note: "n",
			access: {allowOnlineAccess: true, firstApproverLimit: "10.5", secondApproverLimit: "999999999.99",
			numberOfApprovers: 2}, additionalAttributes: [{name: "region", value: "East"}]`, c)
		},
		`customer { id shortName status version taxId { masked } legalAddress { countryCode country }
		mailingAddress { line1 country } relationshipManager phoneNumber secCodes
		parent { uid } profile { creditClient achNonPrefundLimit detailsOfCharge } access { firstApproverLimit
		secondApproverLimit numberOfApprovers } additionalAttributes { name value } } approval { uid }`,
	},
	"openAccount": {
		access.ManageAccounts, func(c customers.UID) string {
			return fmt.Sprintf(
				`customer: "%s", name: "Petty Cash", number: "4000%d", type: DEPOSIT, subType: CHECKING,
			systemOfRecord: INTERNAL_CORE,
			currency: "USD", countryCode: "USA", bankId: "611090001", masterGl: "201000", note: "for the new branch",
			features: {wires: true, domesticWires: true, ach: true, achCompanyId: "77", secCodes: ["PPD"],
			underwritten: true, debitExposureLimit: "12.50", fedNow: true},
			externalAccount: {provider: "linkhub", token: "secret"},
			additionalAttributes: [{name: "Desk", value: "7"}]`, c, c)
		},
		`account { id number { masked } status reason balances { available }
		features { achCompanyId defaultOffset debitExposureLimit fedNow rfpReceive }
		externalAccount { provider } additionalAttributes { name value } sweeps { direction }
		version customer { uid } } approval { uid }`,
	},
	"changeAccount": {
		access.ManageAccounts, func(c customers.UID) string {
			return fmt.Sprintf(
				`uid: "%s", name: "Petty Cash", costCenter: null, features: {rtp: false, feeAccount: null}`,
				accountOf(c, 0))
		},
		`account { uid name costCenter features { wires domesticWires callbacks feeAccount }
			version } approval { uid }`,
	},
	"closeAccount": {access.ManageAccounts, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", reason: "paid back"`, accountOf(c, 1))
	}, `account { uid status reason version } approval { uid }`},
	"suspendAccount": {
		access.ManageAccounts, func(c customers.UID) string {
			return fmt.Sprintf(`uid: "%s", reason: "police request 7"`, accountOf(c, 0))
		},
		`account { uid status reason version } approval { uid }`,
	},
	"activateAccount": {
		access.ManageAccounts, func(c customers.UID) string { return fmt.Sprintf(`uid: "%s"`, accountOf(c, 2)) },
		`account { uid status } approval { uid }`,
	},
	"deleteAccount": {
		access.ManageAccounts, func(c customers.UID) string { return fmt.Sprintf(`uid: "%s"`, accountOf(c, 1)) },
		`uid approval { uid }`,
	},
	"setSweep": {
		access.ManageAccounts, func(c customers.UID) string {
			return fmt.Sprintf(
				`account: "%s", direction: IN, balanceType: TARGET, targetBalance: "99.50", fromContact: "%s",
					fromMethod: ACH_DEBIT, frequency: MONTHLY, dayOfMonth: 31`,
				accountOf(c, 1), contactOf(c, 0))
		},
		`sweep { direction targetBalance fromContact fromMethod frequency dayOfMonth nextSweepDate
			version } approval { uid }`,
	},
	"changeSweep": {access.ManageAccounts, func(c customers.UID) string {
		return fmt.Sprintf(`account: "%s", direction: BOTH, fromAmount: "0", frequency: DAILY`, accountOf(c, 0))
	}, `sweep { direction fromAmount toContact frequency dayOfWeek version } approval { uid }`},
	"removeSweep": {
		access.ManageAccounts,
		func(c customers.UID) string { return fmt.Sprintf(`account: "%s", direction: BOTH`, accountOf(c, 0)) },
		`account direction approval { uid }`,
	},
	"createUser": {
		access.ManageUsers, func(c customers.UID) string {
			return fmt.Sprintf(
				`customer: "%s", loginId: "ada.byron", firstName: "Ada", lastName: "Byron",
			email: "ada@mail.example", mobile: "+1 614 555 0123", department: "Treasury",
			roleNames: ["%s"], applicationLimits: [{name: "foreign_exchange",
			limits: [{name: "Daily_Payment_Limits", value: "12.50"}]}]`, c, nameOf(c))
		},
		`user { id name status version roles { name }
			applicationLimits { name limits { name value currency } } customer { uid } } approval { uid }`,
	},
	"changeUser": {access.ManageUsers, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", department: "Audit", phoneNumber: null,
			firstName: "Ada", roleNames: null`,
			userOf(c, 0))
	}, `user { uid department phoneNumber name version } approval { uid }`},
	"suspendUser": {
		access.SuspendUsers, func(c customers.UID) string { return fmt.Sprintf(`uid: "%s"`, userOf(c, 1)) },
		`user { status version } approval { uid }`,
	},
	"activateUser": {
		access.ActivateUsers, func(c customers.UID) string { return fmt.Sprintf(`uid: "%s"`, userOf(c, 2)) },
		`user { status version } approval { uid }`,
	},
	"linkSubject": {access.ManageUsers, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", issuer: "https://login.example", subject: "7f1c"`, userOf(c, 0))
	}, `user { uid version } approval { uid }`},
	"unlinkSubject": {access.ManageUsers, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", issuer: "https://login.example"`, userOf(c, 1))
	}, `user { uid version } approval { uid }`},
	"createRole": {
		access.ManageRoles, func(c customers.UID) string {
			return fmt.Sprintf(
				`customer: "%s", name: "Clerk", description: "Pays",
					applications: [{name: "Foreign_Exchange", entitlements: ["View_Trades"],
					limits: [{name: "Daily_Payment_Limits", value: "12.50"}]}]`, c)
		},
		`role { id name type owner status version applications { name entitlements limits { name value } }
			customer { uid } } approval { uid }`,
	},
	"changeRole": {access.ManageRoles, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", name: "Renamed", applications: null`, roleOf(c, 1))
	}, `role { name version } approval { uid }`},
	"changeCustomer": {
		access.ManageCustomers, func(c customers.UID) string {
			return fmt.Sprintf(
				`uid: "%s", legalName: "Star Ltd", type: CORPORATE, taxId: "98-7654321", note: null,
			legalAddress: {line2: null, countryCode: "CA"}, mailAddressSameAsLegal: true,
			relationshipManager: "mjones", externalReferenceId: null, emailAddress: null,
			profile: {sso: false, fxPricingTier: null}, access: {firstApproverLimit: "0.01"}, secCodes: [],
			additionalAttributes: []`, c)
		},
		`customer { uid legalName taxId { masked } note legalAddress { line1 line2 countryCode country }
			relationshipManager originatingOfficer profile { sso fxPricingTier } access { firstApproverLimit }
			secCodes additionalAttributes { name } version } approval { uid }`,
	},
	"suspendCustomer": {
		access.ManageCustomers, func(c customers.UID) string { return fmt.Sprintf(`uid: "%s"`, c) },
		`customer { uid status version } approval { uid }`,
	},
	"activateCustomer": {
		access.ManageCustomers, func(c customers.UID) string { return fmt.Sprintf(`uid: "%s"`, c) },
		`customer { uid status version } approval { uid }`,
	},
	"approveChange": {access.ManageCustomers, openApproval, `approval { status checkerClient }`},
	"refuseChange":  {access.ManageCustomers, openApproval, `approval { status decisionReason }`},
	"addFeeTier": {access.ManageCustomers, func(c customers.UID) string {
		return fmt.Sprintf(
			`customer: "%s", application: "payments", product: "Wires", name: "Flat", tier: "gold",
				accountNumber: "%s"`, c, numberOf(c, 1))
	}, `feeTier { application product name tier status version accountNumber { masked } } approval { uid }`},
	"changeFeeTier": {access.ManageCustomers, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%d", accountNumber: null`, int64(accountOf(c, 0))-1_000_000)
	}, `feeTier { uid tier accountNumber { masked } version } approval { uid }`},
	"changeLimits": {access.ManageCustomers, func(c customers.UID) string {
		return fmt.Sprintf(
			`customer: "%s", limits: [{code: "ach_payment_limit_per_day",
				value: "60000.5"}, {code: "FEDWIRE_PAYMENT_LIMIT_PER_DAY", value: "3"}]`, activeOf(c))
	}, `customer { uid limits(rail: ACH) { code current } } approval { uid }`},
}

// staffOnly are the mutations that a partner may not make even for its own customers.
var staffOnly = map[string]bool{
	// its own are those of the only active one here
	"suspendCustomer": true, "activateCustomer": true, "changeLimits": true,
	"approveChange": true, "refuseChange": true, // the bank has asked
	"linkSubject": true, "unlinkSubject": true, "moveClock": true,
	"releaseHold":    true,                          // the bank has placed it
	"suspendAccount": true, "activateAccount": true, // a suspended one
	"cancelTrade": true, // it was booked long ago
}

// allowed is a caller who may make a mutation: the partner if it may, since it has fewer rights.
func (b *bank) allowed(mutation string) *access.Caller {
	if staffOnly[mutation] {
		return b.staff()
	}
	return b.partner()
}

// activeOf is an ACTIVE customer: for star, which settled has made NEW, it is the partner.
func activeOf(c customers.UID) customers.UID {
	if c == star {
		return partner
	}
	return c
}

// nameOf is the name of a customer's first role in both banks.
func nameOf(c customers.UID) string { return fmt.Sprint("Alpha Name ", signatoryOf(c, 0)) }

// openApproval is the approval that openApprovals has made for a customer.
func openApproval(c customers.UID) string {
	return fmt.Sprintf(`uid: "%d", reason: "looked at"`, int64(approvalOf(c))+500)
}

// openApprovals proposes to remove each customer's last signatory.
func (b *bank) openApprovals(t testing.TB) {
	t.Helper()
	b.exec(t, `INSERT INTO approvals (tenant, uid, customer, operation, object, object_uid, creation, draft,
		version, maker_client, maker_entity)
		SELECT tenant, uid - 999499, uid, 'addSignatory', 'signatory', ((uid - 1000000) * 100 + 3)::text,
		true, '', 1, 'somebody', 7 FROM customers WHERE tenant = ?`, b.tenant)
}

// namesItsContact has the entry of a payment name the account of its contact, so that notices of change about
// it can be followed.
func (b *bank) namesItsContact(t testing.TB, uid payments.UID, contact contacts.UID) {
	t.Helper()
	number := keyset.Encrypt("55"+numberOf(star, 0), seal.Place{
		Tenant: int64(b.tenant), Column: payments.NumberColumn, Row: int64(uid),
	})
	b.exec(t, `UPDATE payment_details AS pd SET number_sealed = ?, bank_country = '',
		bank_id = k.bank_national_code
		FROM contacts AS k WHERE pd.tenant = ? AND k.tenant = pd.tenant AND pd.payment = ? AND k.uid = ?`,
		number, b.tenant, uid, contact)
	b.exec(t, `UPDATE ach_entries SET account = '' WHERE tenant = ? AND payment = ?`, b.tenant, uid)
}

// settled is a bank where no settings ask for a second person, with open approvals.
func settled(t testing.TB) *bank {
	t.Helper()
	b := newBank(t)
	b.resolving = nil // a mutation must not be executed twice
	b.exec(t, `UPDATE customers SET access_customer_dual_approval = false, access_bene_dual_approval = false,
		access_user_dual_approval = false,
		access_fee_tier_for_approval = false, access_payment_dual_approval = false WHERE tenant = ?`, b.tenant)
	b.exec(t,
		`INSERT INTO users (tenant, uid, customer, login_id, status)
			VALUES (?, gen_random_uuid(), ?, 'mjones', 'Active')`, b.tenant, theBank)
	b.exec(t,
		`UPDATE users SET status = 'Locked' WHERE tenant = ? AND number % 100 = 3 AND login_id <> 'mjones'`,
		b.tenant)
	// which a message carries
	b.exec(t, `UPDATE customers SET legal_country_code = 'US', legal_postal_code = '43215' WHERE tenant = ?`,
		b.tenant)
	// which can become anything
	b.exec(t, `UPDATE customers SET status = 'New' WHERE tenant = ? AND uid = ?`, b.tenant, star)
	b.exec(t, `INSERT INTO fee_catalogue (tenant, application, product, fee_name, fee_tier, price, currency)
		SELECT tenant, application, product, fee_name, fee_tier, 0, 'USD' FROM fee_tiers WHERE tenant = ?0
		UNION SELECT ?0, 'Payments', 'Wires', 'Flat', 'Gold', 250, 'USD'`, b.tenant)
	b.exec(t,
		`INSERT INTO attributes (tenant, level, name, type)
			VALUES (?0, 'customer', 'Region', 'Text'), (?0, 'account', 'Desk', 'Text')`, b.tenant)
	b.exec(t,
		`INSERT INTO issuers (tenant, url, audience, user_claims, subject_claim, algorithms)
			VALUES (?, 'https://login.example', 'api', '{sub}', 'sub', '{ES256}')`, b.tenant)
	b.exec(t, `INSERT INTO subjects (tenant, url, audience, claim, subject, customer, user_uid)
		SELECT tenant, 'https://login.example', 'api', 'sub', uid::text, customer, uid FROM users
		WHERE tenant = ? AND number % 100 = 2`, b.tenant)
	// callers here are programs
	b.exec(t, `INSERT INTO tenant_settings (tenant, people_decide) VALUES (?, false)`, b.tenant)
	b.openApprovals(t)
	// Of each customer's accounts the second can be closed, or deleted, and the third activated.
	b.asOwner(t, fmt.Sprintf(`DELETE FROM postings WHERE tenant = %d AND account %% 100 = 1`, b.tenant))
	for _, statement := range []string{
		`UPDATE balances SET ledger = 0, held = 0, version = 0
			WHERE tenant = ? AND account % 100 = 1 AND house = ''`,
		`DELETE FROM fee_tiers WHERE tenant = ? AND account % 100 = 1`,
		`DELETE FROM sweeps WHERE tenant = ? AND account % 100 = 1`,
		`UPDATE accounts SET enable_callbacks = false, callback_limit = NULL
			WHERE tenant = ? AND uid % 100 = 1`,
		`UPDATE accounts SET status = 'Suspended' WHERE tenant = ? AND uid % 100 = 2`,
		// Of each customer's contacts the third can be verified, from its first account; the deposits of the second
		// have settled.
		`UPDATE contacts SET bank_country = 'United States', bank_national_code = '` + listedBank.number +
			`', bank_account_type = 'Deposit',
			bank_account_sub_type = 'Checking', name = 'Ada Byron' WHERE tenant = ? AND uid % 100 = 52`,
		`UPDATE contact_verifications SET state = 'FAILED', due_at = NULL,
			created_at = created_at - interval '60 days' WHERE tenant = ? AND uid % 100 IN (2, 5, 8)`,
		`UPDATE accounts SET ach_company_id = '1234567890' WHERE tenant = ? AND uid % 100 = 0`,
		`UPDATE payments SET state = 'SETTLED' WHERE tenant = ? AND uid % 100 IN (4, 5)`,
	} {
		b.exec(t, statement, b.tenant)
	}
	b.namesItsContact(t, paymentOf(star, 0), contactOf(star, 0))
	return b
}

func mutation(name string, about customers.UID, key string) string {
	m := mutations[name]
	input := m.input(about)
	if key == "" && schema.Types[inputOf(name)].Fields.ForName("idempotencyKey").Type.NonNull {
		key = "about " + about.String()
	}
	if key != "" {
		input += fmt.Sprintf(`, idempotencyKey: %q`, key)
	}
	return fmt.Sprintf(`mutation { it: %s(input: {%s}) { %s } }`, name, input, m.asks)
}

// inputOf is the type of a mutation's input.
func inputOf(name string) string {
	return schema.Types["Mutation"].Fields.ForName(name).Arguments.ForName("input").Type.Name()
}

func TestEveryMutationIsTriedHere(t *testing.T) {
	t.Parallel()
	for _, field := range schema.Types["Mutation"].Fields {
		if _, known := mutations[field.Name]; !known && !strings.HasPrefix(field.Name, "__") {
			t.Errorf("%s is not in mutations", field.Name)
		}
		if field.Type.NonNull {
			t.Errorf("%s must be nullable: what other fields of a document did stands", field.Name)
		}
	}
}

func TestAMutationChangesNothingOfAnother(t *testing.T) {
	t.Parallel()
	b := settled(t)
	eachMutation(t, func(t *testing.T, name string) {
		t.Helper()
		if ofTheBank[name] {
			return
		}
		for who, caller := range map[string]*access.Caller{"a partner": b.partner(), "staff": b.staff()} {
			nothing := b.ask(t, caller, mutation(name, absent, ""))
			foreign := []customers.UID{onlyThere}
			if who == "a partner" {
				foreign = append(foreign, otherStar, lone)
			}
			for _, c := range foreign {
				got := b.ask(t, caller, mutation(name, c, ""))
				if len(got.errors) != 1 ||
					got.errors[0].Message != nothing.errors[0].Message &&
						got.errors[0].Extensions.Kind != "DENIED" {
					t.Errorf("%s about %d: %s, about nobody: %s", who, c, got.body, nothing.body)
				}
			}
		}
	})
	if n := b.recorded(t, "done"); n != 0 {
		t.Errorf("%d changes were made", n)
	}
}

// eachMutation runs a test of each mutation, and returns when all have ended.
func eachMutation(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	t.Run("each", func(t *testing.T) {
		for name := range mutations {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, name)
			})
		}
	})
}

// recorded counts the audit entries of a decision.
func (b *bank) recorded(t testing.TB, decision string) (n int) {
	t.Helper()
	if err := b.core.DB.NewRaw(`SELECT count(*) FROM audit_entries
		WHERE tenant = ? AND id < ? AND decision = ?`,
		b.tenant, auditOf(theBank)-7, decision).Scan(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	if decision == "done" {
		n -= b.over.recorded
	}
	return n
}

// grantsTrades lists the mutations whose role holds View_Trades.
var grantsTrades = map[string]bool{
	"createUser": true, "createRole": true, "linkSubject": true,
	"changeRole": true,
}

// needsToo are what mutations need beside their permission.
var needsToo = map[string][]access.Permission{
	"setSweep": {access.InitiatePayments}, "changeSweep": {access.InitiatePayments}, // they pay
	"startContactVerification": {access.InitiatePayments}, // deposits do, too
	"changeContact":            {access.InitiatePayments}, // as series pay this one, it says where they do
	"enableWebhook":            {access.ViewAccounts},     // as this one is told of transactions
	// whoever follows a notice sees the payment that it is about
	"applyNoticeOfChange": {access.ViewPayments, access.InitiatePayments},
}

// All other permissions do not suffice. That none is needed beside it, the test of repeated keys holds.
func TestAMutationNeedsItsPermission(t *testing.T) {
	t.Parallel()
	b := settled(t)
	eachMutation(t, func(t *testing.T, name string) {
		t.Helper()
		needs := mutations[name].needs
		got := b.ask(t, without(b.staff(), needs), mutation(name, star, ""))
		if !slices.ContainsFunc(got.errors,
			func(e shown) bool { return e.Extensions.Kind == "DENIED" && len(e.Path) == 1 }) {
			t.Errorf("without %s: %s", needs, got.body)
		}
	})
	if n := b.recorded(t, "done"); n != 0 {
		t.Errorf("%d changes were made", n)
	}
}

// Ten requests at once with one key have one effect and one answer. Their caller has the permissions that the
// mutation needs and no other one, and is told that it was made.
func TestARepeatedKeyHasOneEffectAndOneAnswer(t *testing.T) {
	t.Parallel()
	for name, m := range mutations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := settled(t)
			caller := b.allowed(name)
			caller.Permissions = append([]access.Permission{m.needs}, needsToo[name]...)
			if grantsTrades[name] { // nobody grants what they do not have
				caller.Permissions = append(caller.Permissions, access.ViewTrades)
			}
			answers := make([]answer, 10)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() { answers[i] = b.ask(t, caller, mutation(name, star, "key")) })
			}
			all.Wait()
			for _, a := range answers {
				if !alike(a, answers[0]) {
					t.Errorf("%s, and %s", answers[0].body, a.body)
				}
			}
			saysItWasMade(t, answers[0])
			most := 2
			if name == "startContactVerification" { // with two payments
				most = 3
			}
			if n := b.recorded(t, "done") + b.recorded(t, "approved") + b.recorded(t, "refused"); n == 0 ||
				n > most {
				t.Errorf("%d entries", n)
			}
			again := b.ask(t, b.allowed(name),
				strings.Replace(mutation(name, star, "key"), "{ it:",
					"{ replayed: "+name+"(input: {"+m.input(star)+`, `+
						`idempotencyKey: "key"}) { replayed } it:`,
					1))
			if again.fine(t).at("replayed", "replayed") != true {
				t.Errorf("%s", again.body)
			}
		})
	}
}

func TestARequestInFlightIsToldFromAReusedKey(t *testing.T) {
	t.Parallel()
	b := ownBank(t, db.Options{}) // with the bounds of service, which end the wait for the key
	b.resolving = nil             // a mutation must not be executed twice
	ask := func(title string) answer {
		return b.ask(t, b.partner(),
			fmt.Sprintf(
				`mutation { changeSignatory(input: {uid: "%s", title: "%s", idempotencyKey: "k"}) { approval { uid } } }`,
				signatoryOf(star, 0), title))
	}
	err := b.core.DB.InTx(t.Context(), int64(b.tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx,
			`INSERT INTO idempotency_keys (tenant, client, operation, key, request)
				VALUES (?, 'partner', 'changeSignatory', 'k', '')`, b.tenant)
		if e := ask("CFO").one(t); e.Extensions.Code != "IDEMPOTENCY_IN_FLIGHT" {
			t.Errorf("in flight: %+v", e)
		}
		return cmp.Or(err, errors.New("nothing of it stays"))
	})
	if got := ask("CFO"); err == nil || len(got.errors) != 0 {
		t.Errorf("afterwards: %s (%v)", got.body, err)
	}
	if e := ask("Chair").one(t); e.Extensions.Code != "IDEMPOTENCY_KEY_REUSED" {
		t.Errorf("reused: %+v", e)
	}
}

func TestAnOlderVersionIsRefused(t *testing.T) {
	t.Parallel()
	b := settled(t)
	change := func(version int) answer {
		return b.ask(t, b.staff(),
			fmt.Sprintf(
				`mutation { changeSignatory(input: {uid: "%s", title: "V%d", version: 1}) { signatory { version } } }`,
				signatoryOf(star, 0), version))
	}
	if got := change(1).fine(t); got.at("changeSignatory", "signatory", "version") != 2.0 {
		t.Errorf("%s", got.body)
	}
	if got := change(2); got.one(t).Extensions.Kind != "CONFLICT" {
		t.Errorf("%s", got.body)
	}
}

// A second person approves what the first asked for, and nobody approves their own.
func TestTwoPeopleMakeAChange(t *testing.T) {
	t.Parallel()
	b := newBank(t) // its settings
	b.resolving = nil
	// ask for dual approval everywhere
	asked := b.ask(t, b.staff(), mutation("changeSignatory", star, "")).fine(t)
	uid, _ := asked.at("it", "approval", "uid").(string)
	if uid == "" || asked.at("it", "signatory", "title") == "CFO" {
		t.Fatalf("%s", asked.body)
	}
	approve := fmt.Sprintf(
		`mutation { approveChange(input: {uid: %q}) { approval { status changes { field before after } } } }`, uid)
	if own := b.ask(t, b.staff(), approve); own.one(t).Extensions.Kind != "STATE" {
		t.Errorf("the maker approves: %s", own.body)
	}
	if program := b.ask(t, &access.Caller{
		Tenant: b.tenant, Client: "another", Entity: int64(lone), Reach: access.OfBank, Permissions: access.All,
	}, approve); program.one(t).Extensions.Kind != "DENIED" {
		t.Errorf("a program approves: %s", program.body)
	}
	second := *b.staff()
	second.Client, second.User, second.LoginID = "second", uuid.New(), "ida.frost"
	b.exec(t, `INSERT INTO users (tenant, uid, customer, login_id, status) VALUES (?, ?, ?, ?, 'Active')`,
		b.tenant, second.User.String(), theBank, second.LoginID)
	done := b.ask(t, &second, approve).fine(t)
	if done.at("approveChange", "approval", "status") != "APPROVED" ||
		!strings.Contains(done.body, `{"field":"title","before":"Alpha Title`) {
		t.Errorf("%s", done.body)
	}
	now := b.ask(t, b.staff(),
		fmt.Sprintf(`{ node(id: "sig_%s") { ... on Signatory { title version } } approvals { totalCount } }`,
			signatoryOf(star, 0))).fine(t)
	if now.at("node", "title") != "CFO" || now.at("approvals", "totalCount") != 0.0 {
		t.Errorf("%s", now.body)
	}
	history := b.ask(t, b.staff(),
		fmt.Sprintf(
			`{ node(id: "sig_%s") { ... on Signatory { history(first: 5, after: %q) {
				nodes { action decision client changes { field before after } } } } } }`,
			signatoryOf(star, 0), page.Cursor{Order: "AuditEntry.uid", UID: int64(auditOf(theBank)) - 7}.String())).
		fine(t)
	var told []string
	for _, entry := range history.at("node", "history", "nodes").([]any) {
		e := entry.(map[string]any)
		told = append(told, fmt.Sprint(e["action"], " ", e["decision"], " ", e["client"]))
	}
	if !slices.Equal(told,
		[]string{
			"changeSignatory DONE second", "changeSignatory APPROVED second",
			"changeSignatory PROPOSED staff",
		}) ||
		!strings.Contains(history.body, `{"field":"title","before":"Alpha Title`) {
		t.Errorf("the signatory's history: %s", history.body)
	}
	if again := b.ask(t, &second, approve); again.one(t).Extensions.Kind != "STATE" {
		t.Errorf("approved twice: %s", again.body)
	}
}

// A replica may lag, so a mutation reads what it shows from the primary.
func TestAMutationSeesWhatItWroteThoughAReplicaLags(t *testing.T) {
	t.Parallel()
	b := ownBank(t, db.Options{ReadURL: dbtest.URL(t)}) // nothing has reached this replica yet
	b.resolving = nil
	got := b.ask(t, b.staff(), mutation("addSignatory", star, "")).fine(t)
	if got.at("it", "signatory", "fullName") != "Ada Byron" ||
		got.at("it", "signatory", "customer", "uid") != star.String() ||
		got.at("it", "approval", "uid") == nil {
		t.Errorf("%s", got.body)
	}
}

// Regulatory entries are read masked, and the masked form is accepted back.
func TestWhatIsReadOfAContactsReportIsTakenBack(t *testing.T) {
	t.Parallel()
	b := settled(t)
	b.exec(t, `UPDATE tenants SET reporting_keys = reporting_keys || '{Purpose}' WHERE id = ?`, b.tenant)
	change := func(value string) answer {
		return b.ask(t, b.partner(),
			fmt.Sprintf(
				`mutation { changeContact(input: {uid: "%s",
			regulatoryReporting: [{key: "TAXID", value: "914820033"}, {key: "purpose", value: "%s"}]})
			{ contact { regulatoryReporting { key value } } } }`, contactOf(star, 0), value))
	}
	shown := change("****1150").fine(t)
	if got := fmt.Sprint(shown.at("changeContact", "contact",
		"regulatoryReporting")); got != "[map[key:TaxId value:****0033] map[key:Purpose value:****1150]]" {
		t.Error(got)
	}
	if got := change("****77914820033"); len(got.errors) != 1 ||
		got.errors[0].Extensions.Field != "regulatoryReporting[1].value" ||
		strings.Contains(got.body, "9148") {
		t.Errorf("%s", got)
	}
}
