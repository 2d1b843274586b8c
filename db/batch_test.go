package db_test

import (
	"runtime"
	"testing"

	"bankgraph/db"
)

func TestTextsDoNotGrowWithWhatCallersAskFor(t *testing.T) {
	t.Parallel()
	var texts db.QueryCache[db.Count]
	freed := make(chan struct{}, 1)
	text := texts.Get(0, func() string { return "SELECT" })
	if again := texts.Get(0, func() string { t.Error("built twice"); return "" }); again != text {
		t.Error("a known shape has another text")
	}
	runtime.AddCleanup(text, func(struct{}) { freed <- struct{}{} }, struct{}{})
	for shape := range 2000 { // as a caller can cause who keeps asking for other fields
		texts.Get(shape+1, func() string { return "SELECT" })
	}
	runtime.GC()
	<-freed // blocks if texts are kept for ever
	runtime.KeepAlive(&texts)
}
