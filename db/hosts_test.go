package db_test

import (
	"context"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// Of several hosts the next one counts where the first one says nothing, as one that has lost its power.
func TestAHostThatIsSilentIsPassedOver(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			if _, err := listener.Accept(); err != nil { // and says nothing
				return
			}
		}
	}()
	dead, alive := listener.Addr().String(), slowWay(t, dbtest.Shared(t), 0)
	good, err := url.Parse(alive)
	if err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(strings.Replace(alive, good.Host, dead+","+good.Host, 1), db.Options{Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { go d.Close() })
	began := time.Now()
	for time.Since(began) < 70*time.Second {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err = d.InTx(ctx, 0, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.NewRaw(`SELECT 1`).Exec(ctx)
			return err
		})
		cancel()
		if err == nil {
			t.Logf("after %v", time.Since(began).Round(time.Second))
			return
		}
	}
	t.Errorf("for %v nobody was let in by the second host: %v", time.Since(began).Round(time.Second), err)
}
