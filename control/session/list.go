// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"slices"
	"sort"

	"airpath/control/owner"
	"airpath/control/rules"
)

var _ rules.Sessions = (*Manager)(nil)

// List yields sessions by rising SEID.
func (m *Manager) List(after uint64, yield func(rules.SessionInfo) bool) {
	m.mu.Lock()
	ids := make([]uint64, 0, len(m.sessions))
	for id := range m.sessions {
		if id > after {
			ids = append(ids, id)
		}
	}
	m.mu.Unlock()
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	for _, id := range ids {
		m.mu.Lock()
		st, info := m.look(id)
		m.mu.Unlock()
		if st != nil && !yield(info) {
			return
		}
	}
}

func (m *Manager) look(id uint64) (*state, rules.SessionInfo) {
	s := m.sessions[id]
	if s == nil || s.record == nil {
		return nil, rules.SessionInfo{}
	}
	st := mustDecode(s.record)
	info := rules.SessionInfo{
		UPSEID: st.seid, CPSEID: st.cp.SEID, Node: st.node.String(), IPv4: st.ip4, IPv6: st.ip6, IPv6Bits: st.ip6Bits,
		TEIDs: st.teids(), PDRs: len(st.pdrs), Unit: s.unit.name, UnitGone: s.unit.former, Worker: -1,
		Version: s.version,
	}
	if b := owner.Bucket(st.handle); int(b) < len(s.unit.workers) {
		info.Worker = int(s.unit.workers[b])
	}
	return st, info
}

// Show gives one session with its rules.
func (m *Manager) Show(upSEID uint64) (rules.SessionDetail, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	st, info := m.look(upSEID)
	if st == nil {
		return rules.SessionDetail{}, false
	}
	d := rules.SessionDetail{
		SessionInfo: info, DNN: st.dnn, UserID: st.user, PDRRules: st.pdrs, FARRules: st.fars, QERRules: st.qers,
		BARRules: st.bars, NextSEQN: map[uint32]uint32{}, InactivityTimer: st.inactivity,
	}
	for _, u := range st.urrs {
		d.URRRules = append(d.URRRules, u.URR)
		d.NextSEQN[u.ID] = u.seqn
	}
	return d, true
}

// UnitInfo is what is known of a forwarding unit.
type UnitInfo struct {
	Name      string   `json:"name"`
	Gone      bool     `json:"gone"` // not configured any more, and has sessions
	Connected bool     `json:"connected"`
	Unit      string   `json:"unit"`
	Workers   uint32   `json:"workers"`
	Steering  string   `json:"steering"`
	Buckets   []uint32 `json:"-"` // which worker serves a bucket
	Set       uint32   `json:"-"` // generation of the applications in force
	SetBytes  uint64   `json:"-"`
	Sessions  int      `json:"sessions"`
}

// Units lists the forwarding units: those configured, and those that are not any more and have sessions.
func (m *Manager) Units() []UnitInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	count := map[*unit]int{}
	for _, s := range m.sessions {
		count[s.unit]++
	}
	var out []UnitInfo
	for _, u := range slices.Concat(m.units, m.former) {
		if u.former && count[u] == 0 {
			continue
		}
		out = append(out, UnitInfo{
			Name: u.name, Gone: u.former, Connected: u.ready, Unit: u.welcome.GetUnit(), Workers: u.welcome.GetWorkers(),
			Steering: u.welcome.GetSteering(), Buckets: u.workers, Sessions: count[u], Set: u.apps.generation, SetBytes: u.apps.done.GetMemoryBytes(),
		})
	}
	return out
}

// ApplicationInfo is a line of `applications list`.
type ApplicationInfo struct {
	ID      string `json:"id"`
	Index   uint16 `json:"index"`
	Managed bool   `json:"managed"` // by PFD management, not by a file
	PFDs    int    `json:"pfds"`
}

// ApplicationSet is what there is of applications.
type ApplicationSet struct {
	Generation   uint32                `json:"generation"`
	Files        []string              `json:"files"`
	Applications []ApplicationInfo     `json:"applications"`
	Units        []UnitApplicationInfo `json:"units"`
}

// UnitApplicationInfo is what a forwarding unit has of them.
type UnitApplicationInfo struct {
	Unit        string `json:"unit"`
	Generation  uint32 `json:"generation"`      // in force; 0: none
	Error       string `json:"error,omitempty"` // why it is not that of the agent
	Rules       uint32 `json:"rules"`
	MemoryBytes uint64 `json:"memory_bytes"`
	BuildMs     uint32 `json:"build_ms"`
}

// Applications there are, in the order their descriptions count in.
func (m *Manager) Applications() ApplicationSet {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := ApplicationSet{Generation: m.apps.generation, Files: m.config.ApplicationFiles, Applications: []ApplicationInfo{}}
	for _, a := range m.apps.book.Applications() {
		out.Applications = append(out.Applications, ApplicationInfo{a.ID, a.Index, a.Managed, len(a.PFDs)})
	}
	for _, u := range m.units {
		info := UnitApplicationInfo{Unit: u.name, Generation: u.apps.generation}
		if d := u.apps.done; d != nil {
			info.Rules, info.MemoryBytes, info.BuildMs = d.GetRules(), d.GetMemoryBytes(), d.GetBuildMs()
		}
		if u.apps.generation != m.apps.generation {
			info.Error = u.apps.failed
		}
		out.Units = append(out.Units, info)
	}
	return out
}

// CountApplications for metrics: how many there are, and their generation.
func (m *Manager) CountApplications() (n int, generation uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.apps.book.Len(), m.apps.generation
}
