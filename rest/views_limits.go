package rest

import (
	"bankgraph/core/limits"
	"bankgraph/core/money"
)

// limitList is the answer of the limit check (rest/CONTRACT.md, limit check).
type limitList struct {
	Limits []limit `json:"limits"`
}

type limit struct {
	Code           string       `json:"code"`
	CurrentLimit   money.Amount `json:"currentLimit"`
	UsedAmount     money.Amount `json:"usedAmount"`
	RemainingLimit money.Amount `json:"remainingLimit"`
	DisplayName    string       `json:"displayName"`
	// the amount by which the tested amount would exceed the limit; "" if it fits
	Message string `json:"message"`
}

func limitsOf(found []*limits.Limit) answer {
	if len(found) == 0 {
		return answer{}
	}
	return one(limitList{Limits: each(found, limitOf)})
}

func limitOf(l *limits.Limit) limit {
	return limit{
		Code: l.Code, CurrentLimit: l.Current(), UsedAmount: l.Used(), RemainingLimit: l.Remaining(),
		DisplayName: l.Kind().Name, Message: l.Message(),
	}
}

// limitDraft reads one item of an update's body (rest/CONTRACT.md, limit update); applicationId is not read.
func limitDraft(item fields) limits.Draft {
	return limits.Draft{Code: item.text("entityLimitId").Value, Value: item.number("entityLimitValue").Value}
}
