package engine

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
	"rowproof/engine/throttle"
)

// replicas are the servers that must not lag, as they are connected to: by
// the user and the encryption of the source.
func (c Config) replicas() ([]mysql.Config, error) {
	var list []mysql.Config
	for _, address := range c.Throttle.Replicas {
		host, port, err := net.SplitHostPort(address)
		if err != nil { // no port
			host, port = address, "3306"
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || host == "" || n == 0 {
			return nil, &UsageError{fmt.Sprintf("--throttle-control-replicas=%s: want HOST or HOST:PORT", address)}
		}
		r := c.Server
		r.Host, r.Port, r.Socket = host, uint16(n), ""
		list = append(list, r)
	}
	return list, nil
}

// checkThrottle connects to the replicas, and looks whether all that the
// throttle is to measure is there.
func (m *migration) checkThrottle(ctx context.Context) error {
	configs, err := m.cfg.replicas()
	if err != nil {
		return err
	}
	for _, cfg := range configs {
		replica, err := mysql.Open(ctx, cfg)
		if err != nil {
			return &ddl.Refusal{What: "replica " + cfg.Address(), Why: err.Error(), Do: "check --throttle-control-replicas"}
		}
		m.replicas = append(m.replicas, replica)
		if replica.UUID == m.server.UUID {
			return &ddl.Refusal{What: "replica " + cfg.Address(), Why: "it is the source itself", Do: "check --throttle-control-replicas"}
		}
	}
	m.throttle = throttle.New(throttle.Connect(m.server, m.replicas, m.names.control.Quoted()),
		throttle.Config{Limits: m.cfg.Throttle.Limits, Log: m.cfg.Log})
	if err := m.checkLoad(ctx, m.cfg.Throttle.MaxLoad, m.cfg.Throttle.CriticalLoad); err != nil {
		return &UsageError{err.Error()}
	}
	return nil
}

// checkLoad reports a status variable that the source doesn't have.
func (m *migration) checkLoad(ctx context.Context, loads ...throttle.Load) error {
	for _, load := range loads {
		if len(load) == 0 {
			continue
		}
		if _, err := m.server.GlobalStatus(ctx, load.Variables()); err != nil {
			return err
		}
	}
	return nil
}
