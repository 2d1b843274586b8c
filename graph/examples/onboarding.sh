#!/bin/sh
# Staff take on a customer over GraphQL alone: the customer, its limits and fees, an account, a beneficiary, a role,
# a user and a signatory; then everything is read back in one request. Every mutation carries an idempotency key, so
# the script can be repeated after a failure with the same RUN and nothing is doubled.
#
#   graph/examples/onboarding.sh [ADDRESS]     the demo bank's address; else that of BANKGRAPH_ADDR, or
#                                               http://127.0.0.1:8080
#
# KEY and SECRET name the API key; the demo's staff without them. RUN makes names and keys unique.
set -eu
bank=${1:-http://${BANKGRAPH_ADDR:-127.0.0.1:8080}}
run=${RUN:-$(date +%s)}
tenant=${TENANT:-sandbox}

answer=$(curl -sS --fail -u "${KEY:-demo-staff}:${SECRET:-demo-staff-secret}" -d grant_type=client_credentials \
	"$bank/auth/realms/$tenant/protocol/openid-connect/token")
token=$(printf '%s' "$answer" | sed 's/.*"access_token":"\([^"]*\)".*/\1/')

ask() { # ask DOCUMENT: prints the answer; an error in it ends the script
	document=$(printf '%s' "$1" | tr '\n\t' '  ' | sed 's/\\/\\\\/g; s/"/\\"/g')
	answer=$(curl -sS "$bank/graphql" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d "{\"query\": \"$document\"}")
	printf '%s\n' "$answer"
	case $answer in *'"errors"'* | '') exit 1 ;; esac
}
made() { # made FIELD DOCUMENT: the value of a field of the answer; one that is refused is shown
	answer=$(ask "$2") || { printf '%s
' "$answer" >&2; exit 1; }
	printf '%s
' "$answer" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

customer=$(made uid "mutation { createCustomer(input: {
  legalName: \"Harvest Lane Bakery LLC\", shortName: \"HARVEST$run\", type: CORPORATE, taxId: \"470123457\", language: \"English\",
  emailAddress: \"office@harvestlane.example\", phoneNumber: \"+16145550181\",
  legalAddress: {line1: \"12 Oven St\", city: \"Columbus\", state: \"OH\", postalCode: \"43215\", countryCode: \"US\"}, mailAddressSameAsLegal: true,
  costCenter: \"CC300\", relationshipManager: \"maria.alvarez\", originatingOfficer: \"linda.chen\",
  limits: [{code: \"ACH_PAYMENT_LIMIT_PER_TRANSACTION\", value: \"25000.00\"}, {code: \"ACH_PAYMENT_LIMIT_PER_DAY\", value: \"100000.00\"}], idempotencyKey: \"$run customer\"
}) { customer { uid status } replayed } }")

ask "mutation { changeLimits(input: {customer: \"$customer\", limits: [{code: \"ACH_PAYMENT_LIMIT_PER_DAY\", value: \"150000.00\"}],
  idempotencyKey: \"$run limits\"}) { customer { limits(rail: ACH) { code current } } } }"

account=$(made uid "mutation { openAccount(input: {
  customer: \"$customer\", name: \"Operating\", number: \"92$run\", type: DEPOSIT, subType: CHECKING, currency: \"USD\", countryCode: \"US\",
  systemOfRecord: INTERNAL_CORE, bankId: \"611090001\", masterGl: \"201000\", idempotencyKey: \"$run account\"
}) { account { uid status balances { ledger } } } }")

ask "mutation { addFeeTier(input: {customer: \"$customer\", application: \"Payments\", product: \"Outgoing Payment\", name: \"SPOT\", tier: \"Gold\",
  idempotencyKey: \"$run fee\"}) { feeTier { uid tier } } }"

ask "mutation { addContact(input: {
  customer: \"$customer\", templateName: \"Flour\", name: \"Prairie Mills Inc\", emailAddress: \"billing@prairiemills.example\",
  address: {line1: \"8 Silo Rd\", city: \"Omaha\", state: \"NE\", postalCode: \"68102\", countryCode: \"US\"},
  bank: {country: \"United States\", accountNumber: \"5550067890\", accountCurrency: \"USD\", nationalCode: \"611590103\", accountType: \"Deposit\", accountSubType: \"Checking\"},
  idempotencyKey: \"$run contact\"}) { contact { uid name bank { accountNumber { masked } } } } }"

ask "mutation { createRole(input: {customer: \"$customer\", name: \"Bookkeeper\", description: \"Looks after accounts and contacts\",
  applications: [{name: \"Accounts\", entitlements: [\"View_Account\"]}, {name: \"Contacts\", entitlements: [\"Manage_Contacts\"]}],
  idempotencyKey: \"$run role\"}) { role { uid } } }"

user=$(made uid "mutation { createUser(input: {customer: \"$customer\", department: \"Finance\", loginId: \"rosa.$run\", firstName: \"Rosa\", lastName: \"Lind\",
  email: \"rosa@harvestlane.example\", mobile: \"+1 614 555 0182\", roleNames: [\"Bookkeeper\"], idempotencyKey: \"$run user\"}) { user { uid status } } }")
ask "mutation { activateUser(input: {uid: \"$user\", idempotencyKey: \"$run activate\"}) { user { status } } }"

ask "mutation { addSignatory(input: {customer: \"$customer\", fullName: \"Rosa Lind\", emailAddress: \"rosa@harvestlane.example\",
  phoneNumber: \"+1 614 555 0182\", title: \"Controller\", approvalLimit: \"50000.00\", idempotencyKey: \"$run signatory\"}) { signatory { uid status } } }"

ask "{ customer(by: {uid: \"$customer\"}) {
  legalName status legalAddress { line1 city }
  accounts { nodes { uid number { masked } status balances { available } } } contacts { nodes { name status bank { accountNumber { masked } } } }
  signatories { nodes { fullName approvalLimit } } users { nodes { loginId status } } roles { nodes { name } }
  limits(rail: ACH) { code current remaining } fees { tier name }
  history(first: 20) { nodes { at action client changes { field after } } } } }"
echo "customer $customer is ready" >&2
