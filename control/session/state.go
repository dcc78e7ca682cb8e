// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"net/netip"

	"airpath/control/rules"
)

// state is everything to be known of a session. In memory and in the store it is a record, a few
// hundred octets; it is unfolded for a change and to be sent.
type state struct {
	seid       uint64
	version    uint32
	handle     uint32 // bucket·slot·generation; the TEID of the first tunnel, too
	handleUsed bool   // as a TEID; not again, even when its tunnel is gone
	unit       string
	node       rules.NodeID
	cp         rules.FSEID
	dnn        string
	user       string
	inactivity uint32
	ni         string     // the addresses are unique in
	ip4        netip.Addr // of the UE
	ip6        netip.Addr
	ip6Bits    uint8
	ethernet   bool     // frames, not packets
	foreign    []uint32 // TEIDs the CP function chose
	pdrs       []rules.PDR
	fars       []rules.FAR
	qers       []rules.QER
	urrs       []urr
	bars       []rules.BAR
	last       lastAnswer
}

// urr is a URR with what the agent keeps for it.
type urr struct {
	rules.URR
	seqn uint32 // UR-SEQN of the next report
	// These rise when quotas, or thresholds, are provided: what counts against them is 0 again.
	generation, thresholdGeneration uint32
}

// lastAnswer is what a retransmitted request gets after a restart of the agent.
type lastAnswer struct {
	peer     netip.AddrPort
	sequence uint32
	digest   uint64 // of the request; 0: a former version wrote the record
	wire     []byte
}

// recordVersion is written. Records of version 1, which has no applications, predefined rules and
// redirections, of version 2, which has no Ethernet, and of version 3, which has no Ethernet
// Inactivity Timer, are read, too.
const recordVersion = 4

func (st *state) encode() []byte {
	c := coder{b: make([]byte, 0, 512)}
	st.walk(&c)
	return append(make([]byte, 0, len(c.b)), c.b...)
}

func decode(record []byte) (*state, error) {
	st := new(state)
	c := coder{b: record, reading: true}
	st.walk(&c)
	if c.err == nil && len(c.b) != 0 {
		c.err = errRecord
	}
	if c.err != nil {
		return nil, c.err
	}
	return st, nil
}

// mustDecode is for records this process wrote or has read before.
func mustDecode(record []byte) *state {
	st, err := decode(record)
	if err != nil {
		panic(fmt.Sprintf("session record changed in memory: %v", err))
	}
	return st
}

// holder reads no more of a record than it has to: every request asks for it.
func holder(record []byte) rules.Holder {
	st := state{}
	st.walkHead(&coder{b: record, reading: true})
	return rules.Holder{Node: st.node, CP: st.cp}
}

func (st *state) walk(c *coder) {
	st.walkHead(c)
	text(c, &st.dnn)
	text(c, &st.user)
	num(c, &st.inactivity)
	text(c, &st.ni)
	addr(c, &st.ip4)
	addr(c, &st.ip6)
	num(c, &st.ip6Bits)
	if c.version >= 3 {
		flag(c, &st.ethernet)
	}
	list(c, &st.foreign, num)
	list(c, &st.pdrs, walkPDR)
	list(c, &st.fars, walkFAR)
	list(c, &st.qers, walkQER)
	list(c, &st.urrs, walkURR)
	list(c, &st.bars, walkBAR)
	walkLast(c, &st.last)
}

func (st *state) walkHead(c *coder) {
	if c.version = c.number(recordVersion); c.version < 1 || c.version > recordVersion {
		c.fail()
		return
	}
	num(c, &st.seid)
	num(c, &st.version)
	num(c, &st.handle)
	flag(c, &st.handleUsed)
	text(c, &st.unit)
	addr(c, &st.node.Addr)
	text(c, &st.node.FQDN)
	fseid(c, &st.cp)
}

func walkLast(c *coder, l *lastAnswer) {
	a, port := l.peer.Addr(), l.peer.Port()
	addr(c, &a)
	num(c, &port)
	l.peer = netip.AddrPortFrom(a, port)
	num(c, &l.sequence)
	octets(c, &l.wire)
	if c.reading && c.err == nil && len(c.b) == 0 {
		return // a former version's
	}
	num(c, &l.digest)
}

func fseid(c *coder, f *rules.FSEID) {
	num(c, &f.SEID)
	addr(c, &f.IPv4)
	addr(c, &f.IPv6)
}

func walkPDR(c *coder, p *rules.PDR) {
	num(c, &p.ID)
	opt(c, &p.Precedence, num)
	opt(c, &p.PDI, walkPDI)
	opt(c, &p.OuterHeaderRemoval, func(c *coder, r *rules.OuterHeaderRemoval) {
		num(c, &r.Description)
		num(c, &r.Extension)
	})
	opt(c, &p.FARID, num)
	list(c, &p.URRIDs, num)
	list(c, &p.QERIDs, num)
	if c.version >= 2 {
		list(c, &p.Predefined, text)
	}
}

func walkPDI(c *coder, p *rules.PDI) {
	num(c, &p.Source)
	opt(c, &p.SourceType, num)
	opt(c, &p.NetworkInstance, text)
	opt(c, &p.LocalFTEID, func(c *coder, f *rules.FTEID) {
		num(c, &f.TEID)
		addr(c, &f.IPv4)
		addr(c, &f.IPv6)
	})
	list(c, &p.UEIPs, func(c *coder, u *rules.UEIP) {
		addr(c, &u.IPv4)
		addr(c, &u.IPv6)
		flag(c, &u.Destination)
		num(c, &u.DelegationBits)
		num(c, &u.PrefixLength)
	})
	list(c, &p.SDFFilters, walkSDFFilter)
	list(c, &p.QFIs, num)
	list(c, &p.FramedRoutes, text)
	list(c, &p.FramedIPv6Routes, text)
	if c.version >= 2 {
		opt(c, &p.ApplicationID, text)
	}
	if c.version >= 3 {
		flag(c, &p.Ethernet)
		list(c, &p.EthernetFilters, walkEthernetFilter)
	}
}

func walkEthernetFilter(c *coder, f *rules.EthernetFilter) {
	opt(c, &f.ID, num)
	flag(c, &f.Bidirectional)
	list(c, &f.MACs, func(c *coder, m *rules.MACFilter) {
		for _, a := range []**rules.MAC{&m.Source, &m.Destination, &m.SourceUpper, &m.DestinationUpper} {
			opt(c, a, walkMAC)
		}
	})
	opt(c, &f.Type, num)
	for _, t := range []**rules.VLANTag{&f.CTag, &f.STag} {
		opt(c, t, func(c *coder, v *rules.VLANTag) {
			num(c, &v.Value)
			num(c, &v.Mask)
		})
	}
	list(c, &f.SDFFilters, walkSDFFilter)
}

func walkSDFFilter(c *coder, f *rules.SDFFilter) {
	opt(c, &f.Flow, text)
	opt(c, &f.ToS, walkMarking)
	opt(c, &f.SPI, num)
	opt(c, &f.FlowLabel, num)
	opt(c, &f.ID, num)
}

func walkMarking(c *coder, m *rules.Marking) {
	num(c, &m.Value)
	num(c, &m.Mask)
}

func walkFAR(c *coder, f *rules.FAR) {
	num(c, &f.ID)
	opt(c, &f.Action, num)
	opt(c, &f.Forwarding, walkForwarding)
	list(c, &f.Duplicating, walkForwarding)
	opt(c, &f.BARID, num)
}

func walkForwarding(c *coder, f *rules.Forwarding) {
	opt(c, &f.Destination, num)
	opt(c, &f.DestinationType, num)
	opt(c, &f.NetworkInstance, text)
	opt(c, &f.OuterHeaderCreation, func(c *coder, o *rules.OuterHeaderCreation) {
		num(c, &o.Description)
		num(c, &o.TEID)
		addr(c, &o.IPv4)
		addr(c, &o.IPv6)
		num(c, &o.Port)
	})
	opt(c, &f.TransportLevelMarking, walkMarking)
	if c.version >= 2 {
		opt(c, &f.Redirect, func(c *coder, r *rules.Redirect) {
			num(c, &r.Type)
			text(c, &r.Address)
		})
	}
}

func walkQER(c *coder, q *rules.QER) {
	rate := func(c *coder, r *rules.Bitrate) {
		num(c, &r.UL)
		num(c, &r.DL)
	}
	num(c, &q.ID)
	opt(c, &q.CorrelationID, num)
	opt(c, &q.Gate, func(c *coder, g *rules.Gate) {
		flag(c, &g.ULClosed)
		flag(c, &g.DLClosed)
	})
	opt(c, &q.MBR, rate)
	opt(c, &q.GBR, rate)
	opt(c, &q.QFI, num)
	opt(c, &q.RQI, flag)
	opt(c, &q.PPI, num)
	opt(c, &q.WindowMs, num)
}

func walkVolume(c *coder, v *rules.Volume) {
	opt(c, &v.Total, num)
	opt(c, &v.Uplink, num)
	opt(c, &v.Downlink, num)
}

func walkURR(c *coder, u *urr) {
	num(c, &u.ID)
	num(c, &u.seqn)
	num(c, &u.generation)
	num(c, &u.thresholdGeneration)
	opt(c, &u.Method, num)
	opt(c, &u.Triggers, num)
	opt(c, &u.Period, num)
	opt(c, &u.VolumeThreshold, walkVolume)
	opt(c, &u.VolumeQuota, walkVolume)
	opt(c, &u.TimeThreshold, num)
	opt(c, &u.TimeQuota, num)
	opt(c, &u.EventThreshold, num)
	opt(c, &u.EventQuota, num)
	opt(c, &u.QuotaHoldingTime, num)
	opt(c, &u.QuotaValidityTime, num)
	opt(c, &u.DroppedDL, func(c *coder, d *rules.DroppedDL) {
		num(c, &d.Packets)
		num(c, &d.Bytes)
	})
	opt(c, &u.MonitoringTimeUnix, num)
	opt(c, &u.SubsequentVolumeThreshold, walkVolume)
	opt(c, &u.SubsequentTimeThreshold, num)
	opt(c, &u.InactivityDetectionTime, num)
	list(c, &u.LinkedURRIDs, num)
	opt(c, &u.Information, num)
	opt(c, &u.QuotaFARID, num)
	if c.version >= 4 {
		opt(c, &u.EthernetInactivity, num)
	}
}

func walkBAR(c *coder, b *rules.BAR) {
	num(c, &b.ID)
	opt(c, &b.NotifyDelayMs, num)
	opt(c, &b.Packets, num)
}
