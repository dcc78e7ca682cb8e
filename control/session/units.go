// SPDX-License-Identifier: BSD-3-Clause

package session

import (
	"fmt"

	"airpath/control/owner"
)

func (m *Manager) makeUnits() error {
	if len(m.config.Units) == 0 {
		return fmt.Errorf("no forwarding unit is configured")
	}
	for _, c := range m.config.Units {
		if m.unitNamed(c.Name) != nil {
			return fmt.Errorf("forwarding unit %q is configured twice", c.Name)
		}
		u, err := m.newUnit(c)
		if err != nil {
			return err
		}
		u.readMark(u.name)
		m.units = append(m.units, u)
	}
	for _, p := range m.config.Pools {
		if p.Unit != "" && m.unitNamed(p.Unit) == nil {
			return fmt.Errorf("pool %v is served by forwarding unit %q, which is not configured", p.Prefix, p.Unit)
		}
	}
	return nil
}

func (m *Manager) newUnit(c UnitConfig) (*unit, error) {
	first := uint8(m.started.UnixNano()/1e6)%owner.GenerationMax + 1
	teids, err := owner.NewTEIDs(owner.Slots, first)
	if err != nil {
		return nil, err
	}
	return &unit{m: m, name: c.Name, socket: c.Socket, teids: teids, foreign: map[uint32]bool{}, hasClient: make(chan struct{})}, nil
}

// unitNamed is a configured unit, or nil.
func (m *Manager) unitNamed(name string) *unit {
	for _, u := range m.units {
		if u.name == name {
			return u
		}
	}
	return nil
}
