package fees

// ChargingText reads what payments cost accounts.
const ChargingText = chargingText

// MostOfCustomer is how many tiers a customer may have.
const MostOfCustomer = mostOfCustomer
