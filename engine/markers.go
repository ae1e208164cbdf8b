package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// markers writes rows to the control table and waits until the stream has
// passed them: then it has passed everything that was committed before.
type markers struct {
	server *mysql.Server
	table  ddl.TableName
	run    string // tells this run's markers from an earlier one's

	mu     sync.Mutex
	number int
	wanted map[string]chan struct{}
}

func newMarkers(s *mysql.Server, table ddl.TableName) *markers {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return &markers{server: s, table: table, run: hex.EncodeToString(id[:]), wanted: map[string]chan struct{}{}}
}

// pass writes a marker in the name of a step and returns when it has come
// through the stream.
func (m *markers) pass(ctx context.Context, step string) error {
	token := m.token()
	seen := m.await(token)
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.wanted, token)
	}()
	query := fmt.Sprintf("REPLACE INTO %s (name, token) VALUES (%s, %s)", m.table.Quoted(), ddl.QuoteString(step), ddl.QuoteString(token))
	err := mysql.Persist(ctx, func() error { // written twice it is the same marker
		_, err := m.server.DB.ExecContext(ctx, mysql.Step(step, query))
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s marker: %w", step, err)
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("wait for %s marker in the binlog: %w", step, ctx.Err())
	case <-seen:
		return nil
	}
}

// token returns one that no other row of the control table has had.
func (m *markers) token() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.number++
	return fmt.Sprintf("%s-%d", m.run, m.number)
}

// await returns a channel that is closed when the token has come through the
// stream.
func (m *markers) await(token string) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := make(chan struct{})
	m.wanted[token] = seen
	return seen
}

// passed is told every token that the stream finds.
func (m *markers) passed(token string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seen, ok := m.wanted[token]; ok {
		close(seen)
		delete(m.wanted, token)
	}
}
