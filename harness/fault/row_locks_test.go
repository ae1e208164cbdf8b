package fault_test

import (
	"testing"
)

// A look at a session that does not wait yet must not hide that it waits a
// moment later, however often one looks.
func TestWaitsForRow(t *testing.T) {
	r := newRig(t, plain, false)
	source := r.Cluster.Source()
	holder, err := source.DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, holder.Close)
	waiter, err := source.DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, waiter.Close)
	var session uint64
	if err := waiter.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&session); err != nil {
		t.Fatal(err)
	}
	waits := func() bool {
		waits, err := r.WaitsForRow(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		return waits
	}
	for _, statement := range []string{"BEGIN", "SELECT * FROM `" + r.Schema + "`.pair FOR UPDATE"} {
		if _, err := holder.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := waiter.ExecContext(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	if waits() {
		t.Error("a session that runs no statement is said to wait")
	}
	answer := make(chan error, 1)
	go func() {
		_, err := waiter.ExecContext(t.Context(), "SELECT * FROM `"+r.Schema+"`.pair FOR SHARE")
		answer <- err
	}()
	r.eventually(t, "the session waits", waits)
	if _, err := holder.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
	if waits() {
		t.Error("a session that has its lock is said to wait")
	}
	if _, err := waiter.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
}
