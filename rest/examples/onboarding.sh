#!/bin/sh
# A partner takes on a customer over REST alone: the customer, its limits and fees, an account, a beneficiary, a role,
# a user and a signatory; then everything is read back. Every write carries an idempotency key, so the script can be
# repeated after a failure with the same RUN and nothing is doubled.
#
#   rest/examples/onboarding.sh [ADDRESS]      the demo bank's address; else that of BANKGRAPH_ADDR, or
#                                               http://127.0.0.1:8080
#
# KEY and SECRET name the API key; the demo's partner without them. RUN makes names and keys unique.
set -eu
bank=${1:-http://${BANKGRAPH_ADDR:-127.0.0.1:8080}}
run=${RUN:-$(date +%s)}
tenant=${TENANT:-sandbox}

answer=$(curl -sS --fail -u "${KEY:-demo-partner}:${SECRET:-demo-partner-secret}" -d grant_type=client_credentials \
	"$bank/auth/realms/$tenant/protocol/openid-connect/token")
token=$(printf '%s' "$answer" | sed 's/.*"access_token":"\([^"]*\)".*/\1/')

call() { # call METHOD PATH [BODY]: prints the answer; anything but 2xx ends the script
	method=$1 path=$2 body=${3-}
	set -- -sS --fail-with-body -X "$method" -H "Authorization: Bearer $token"
	if [ "$method" != GET ]; then
		set -- "$@" -H "Idempotency-Key: $run $method $path"
	fi
	if [ -n "$body" ]; then
		set -- "$@" -H 'Content-Type: application/json' -d "$body"
	fi
	printf '%s %s\n' "$method" "$path" >&2
	curl "$@" "$bank$path" || { status=$?; echo; return $status; }
	echo
}
made() { # made FIELD METHOD PATH BODY: the value of a field of the answer; one that is refused is shown
	name=$1
	shift
	answer=$(call "$@") || { printf '%s
' "$answer" >&2; exit 1; }
	printf '%s
' "$answer" | sed -n "s/.*\"$name\":\"\{0,1\}\([^\",}]*\).*/\1/p" | head -n 1
}

customer=$(made customerUID POST /v2/customers "{
  \"legalName\": \"Willow Creek Roasters LLC\", \"shortName\": \"WILLOW$run\", \"customerType\": \"Corporate\",
  \"taxId\": \"470123456\", \"language\": \"English\", \"emailAddress\": \"office@willowcreek.example\", \"phoneNumber\": \"+16145550171\",
  \"legalAddress\": {\"addressLine1\": \"77 Mill Rd\", \"city\": \"Columbus\", \"state\": \"OH\", \"postalCode\": \"43215\", \"countryCode\": \"US\"},
  \"mailAddressSameAsLegal\": true, \"relationshipType\": \"thirdparty\", \"partnerOrgShortName\": \"${PARTNER:-QUAYSIDEPAY10}\",
  \"costCenter\": \"CC200\", \"relationshipManager\": \"${MANAGER:-maria.alvarez}\", \"originatingOfficer\": \"${OFFICER:-linda.chen}\"}")

call PUT "/v2/customers/$customer" '{"note": "taken on over REST", "limits": [{"appName": "Payments", "appLimits": [
  {"key": "ACH_PAYMENT_LIMIT_PER_TRANSACTION", "value": "25000.00"}, {"key": "ACH_PAYMENT_LIMIT_PER_DAY", "value": "100000.00"}]}]}'
call PATCH "/v1/customers/$customer/limits" '[{"entityLimitId": "ACH_PAYMENT_LIMIT_PER_DAY", "entityLimitValue": "150000.00"}]'

account=$(made accountUID POST "/v3/customers/$customer/accounts" "{
  \"accountName\": \"Operating\", \"accountNumber\": \"91$run\", \"accountType\": \"Deposit\", \"accountSubType\": \"Checking\",
  \"currency\": \"USD\", \"countryCode\": \"US\", \"systemOfRecords\": \"Other Core\", \"routingNumber\": \"611090001\", \"masterGl\": \"201000\",
  \"accountFeatures\": {\"fedWireFeature\": {\"enableWire\": true, \"enableDomesticWire\": true}}}")
call PATCH "/v3/customers/$customer/accounts/$account" '{"costCenter": "CC201"}'

call POST "/v1/customers/$customer/fees" '{"application": "Payments", "product": "Outgoing Payment", "feeName": "SPOT", "feeTier": "Gold"}'

contact=$(made customerContactUID POST "/v1/customers/$customer/beneficiary" '{
  "templateName": "Beans", "name": "Highland Beans Inc", "email": "billing@highlandbeans.example",
  "address": {"addressLine1": "4 Ridge Way", "city": "Denver", "state": "CO", "postalCode": "80202", "countryCode": "US"},
  "contactBank": {"country": "United States", "accountNo": "5550012345", "accountCcy": "USD", "nationalCode": "611590103",
    "accountType": "Deposit", "accountSubType": "Checking"}}')
call PATCH "/v1/customers/$customer/beneficiary/$contact" '{"phoneNumber": "+13035550142"}'

people="/api/user-management/v1/customers/$customer"
call POST "$people/roles" '{"name": "Bookkeeper", "description": "Looks after accounts and contacts",
  "applications": [{"name": "Accounts", "entitlements": ["View_Account"]}, {"name": "Contacts", "entitlements": ["Manage_Contacts"]}]}'
user=$(made userId POST "$people/users" "{
  \"department\": \"Finance\", \"loginId\": \"ines.$run\", \"firstName\": \"Ines\", \"lastName\": \"Okafor\", \"email\": \"ines@willowcreek.example\",
  \"mobile\": \"+1 614 555 0172\", \"roleNames\": [\"Bookkeeper\"]}")
call PUT "$people/users/$user/activate"

call POST "/v1/customers/$customer/signatories" '{"fullName": "Ines Okafor", "emailAddress": "ines@willowcreek.example",
  "phoneNumber": "+1 614 555 0172", "title": "Controller", "approvalLimit": 50000}'

for path in "/v2/customers/$customer" "/v3/customers/$customer/accounts/$account?includeAccountBalance=true" \
	"/v2/customers/$customer/contacts?page=1&limit=10" "$people/users/$user" "$people/roles/search" "/v1/customers/$customer/signatories"; do
	call GET "$path"
done
echo "customer $customer is ready" >&2
