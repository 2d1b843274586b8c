package main

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// Whether a little more or less is in use at the moment, the heap grows to the same; much in use may grow to
// three times that.
func TestTheHeapIsCollectedAtOneSize(t *testing.T) {
	t.Parallel()
	for inUse, want := range map[int64]int64{
		1 << 20: 8 << 20, 12 << 20: usualHeap, 23 << 20: usualHeap, 32 << 20: usualHeap, 64 << 20: 192 << 20,
	} {
		if grown := inUse * int64(100+growth(inUse)) / 100; grown < want-1<<20 || grown > want {
			t.Errorf("with %d MiB in use it grows to %d MiB, not %d", inUse>>20, grown>>20, want>>20)
		}
	}
}

func TestEachCollectionSetsTheNext(t *testing.T) {
	t.Parallel()
	paceCollector()
	held := make([]byte, 48<<20)
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
	for range 500 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		metrics.Read(samples)
		if live := samples[0].Value.Uint64(); live > 48<<20 && samples[1].Value.Uint64() == leastGrowth {
			runtime.KeepAlive(held)
			return
		}
	}
	t.Errorf("%d bytes are in use, and the heap grows by %d %%", samples[0].Value.Uint64(),
		samples[1].Value.Uint64())
}
