// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"airpath/control/pfcp"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

func (c *smf) sendRelease(seq uint32) {
	c.Helper()
	c.send(marshal(message.NewAssociationReleaseRequest(seq, ie.NewNodeID(c.address(), "", ""))))
}

// kept of an association; nil: nothing is.
func (f *fakeSessions) kept(t *testing.T, c *smf) *kept {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	state := f.associations[c.node()]
	if state == nil {
		return nil
	}
	k := new(kept)
	if err := json.Unmarshal(state, k); err != nil {
		t.Fatal(err)
	}
	return k
}

// The time of a release is over when the node is associated again and has released that, too: the
// second one is kept for its own time.
func TestASecondReleaseIsKeptAsLong(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	c := newSMF(t, s, "127.0.0.4:0")
	var releases []*keptAnswer
	for _, seq := range []uint32{70, 71} {
		c.associate(1000)
		c.sendRelease(seq)
		c.want(pfcp.AssociationReleaseResponse)
		s.mu.RLock()
		releases = append(releases, s.releases[c.node()])
		s.mu.RUnlock()
	}
	s.dropRelease(c.node(), releases[0])
	if k := f.kept(t, c); k == nil || k.Release == nil || k.Release.Sequence != 71 {
		t.Errorf("%+v", k)
	}
	s.dropRelease(c.node(), releases[1])
	if f.keeps(c.node()) {
		t.Error("it is not forgotten")
	}
}

// Sessions take a while to go, and the node goes on: what it did last is what is kept.
func TestSlowDeletionsOfWhatWasBefore(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	c := newSMF(t, s, "127.0.0.4:0")
	c.associate(1000)
	c.establish(1)
	f.slowly()
	c.sendRelease(80)
	eventually(t, "not released", func() bool { return len(s.Peers()) == 0 })
	c.associate(1000)
	c.sendRelease(81)
	c.want(pfcp.AssociationReleaseResponse)
	f.quick()
	c.want(pfcp.AssociationReleaseResponse) // of the first one
	if k := f.kept(t, c); k == nil || k.Release == nil || k.Release.Sequence != 81 {
		t.Errorf("%+v", k)
	}
	// A heartbeat tells that the node began anew, and it releases before all that is done.
	c.associate(1000)
	c.establish(2)
	f.slowly()
	c.send(marshal(message.NewHeartbeatRequest(90, ie.NewRecoveryTimeStamp(time.Unix(2000, 0)), nil)))
	c.want(pfcp.HeartbeatResponse)
	c.sendRelease(82)
	c.want(pfcp.AssociationReleaseResponse)
	f.quick()
	eventually(t, "not deleted", func() bool { return f.log.has(`why="peer restarted"`) })
	if k := f.kept(t, c); k == nil || k.Release == nil || k.Release.Sequence != 82 {
		t.Errorf("%+v", k)
	}
}

// A node that we set up began anew: it has a new association before its old sessions are gone.
func TestSlowDeletionsOfWhomWeSetUp(t *testing.T) {
	f := newFake()
	s := start(t, f, func(c *Config) {
		c.Peers = []Peer{{Prefix: netip.MustParsePrefix("127.0.0.4/32"), Port: 18808, Associate: true}}
	})
	c := newSMF(t, s, "127.0.0.4:18808")
	c.associate(1000)
	c.establish(1)
	f.slowly()
	c.send(marshal(message.NewHeartbeatRequest(90, ie.NewRecoveryTimeStamp(time.Unix(2000, 0)), nil)))
	eventually(t, "still associated", func() bool { return len(s.Peers()) == 0 })
	for h, _, _ := pfcp.ParseHeader(c.receive(time.Second)); h.Type != pfcp.HeartbeatResponse; {
		h, _, _ = pfcp.ParseHeader(c.receive(time.Second))
	}
	c.send(marshal(message.NewAssociationSetupRequest(91, ie.NewNodeID("127.0.0.4", "", ""), ie.NewRecoveryTimeStamp(time.Unix(2000, 0)))))
	eventually(t, "not set up anew", func() bool { return len(s.Peers()) == 1 && f.kept(t, c) != nil })
	f.quick()
	eventually(t, "not deleted", func() bool { return f.log.has(`why="peer restarted"`) })
	if k := f.kept(t, c); k == nil || k.Recovery != 2000 {
		t.Errorf("%+v", k)
	}
}
