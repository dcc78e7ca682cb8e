// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"slices"
	"testing"

	"airpath/control/pfcp"
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

// pfds is a request for one application of one domain name; node may be nil.
func pfds(sequence uint32, id string, node *ie.IE) []byte {
	contents := ie.NewPFDContents("", "", "a.example", "", "", nil, nil, nil)
	ies := []*ie.IE{ie.NewApplicationIDsPFDs(ie.NewApplicationID(id), ie.NewPFDContext(contents))}
	if node != nil {
		ies = append(ies, node)
	}
	return marshal(message.NewPFDManagementRequest(sequence, ies...))
}

func (c *smf) wantPFDs(want rules.Cause, offending uint16) {
	c.Helper()
	_, m, _ := c.want(pfcp.PFDManagementRequest + 1)
	r := m.(*message.PFDManagementResponse)
	named := uint16(0)
	if r.OffendingIE != nil {
		named, _ = r.OffendingIE.OffendingIE()
	}
	if got := cause(c.T, r.Cause); got != want || named != offending {
		c.Errorf("%v, offending %d", got, named)
	}
}

// §6.2.5, §7.4.3: of an associated CP function, by address or Node ID; once, however often it
// comes; what the session manager says is answered.
func TestPFDManagement(t *testing.T) {
	f := newFake()
	f.pfdAnswer = rules.PFDAnswer{Cause: rules.CauseAccepted}
	s := start(t, f, nil)
	c := newSMF(t, s, "127.0.0.4:0")
	own := ie.NewNodeID("127.0.0.4", "", "")
	for _, node := range []*ie.IE{nil, own} {
		c.send(pfds(700, "video", node))
		c.wantPFDs(rules.CauseNoAssociation, 0)
	}
	c.associate(1000)
	c.send(pfds(701, "video", nil))
	c.wantPFDs(rules.CauseAccepted, 0)
	again := pfds(702, "news", own)
	for range 3 {
		c.send(again)
		c.wantPFDs(rules.CauseAccepted, 0)
	}
	c.send(pfds(703, "web", ie.NewNodeID("127.0.0.5", "", "")))
	c.wantPFDs(rules.CauseNoAssociation, 0)
	stranger := newSMF(t, s, "127.0.0.6:0")
	stranger.send(pfds(704, "web", own))
	stranger.wantPFDs(rules.CauseNoAssociation, 0)
	c.send(marshal(message.NewPFDManagementRequest(705, ie.NewApplicationIDsPFDs(ie.NewPFDContext()))))
	c.wantPFDs(rules.CauseMandatoryIEMissing, ie.PFDContents)
	f.mu.Lock()
	f.pfdAnswer = rules.PFDAnswer{Cause: rules.CauseRejected, OffendingIE: rules.IEPFDContents, Reason: "costs too much"}
	f.mu.Unlock()
	c.send(pfds(706, "last", nil))
	c.wantPFDs(rules.CauseRejected, ie.PFDContents)
	c.send(marshal(message.NewPFDManagementRequest(707)))
	c.wantPFDs(rules.CauseRejected, ie.PFDContents)
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []string
	for _, r := range f.pfds {
		for _, a := range r.Applications {
			ids = append(ids, a.ID)
		}
	}
	if !slices.Equal(ids, []string{"video", "news", "last"}) || len(f.pfds) != 4 || f.pfds[0].Applications[0].Contents[0].Domains[0].Name != "a.example" {
		t.Error(ids, f.pfds)
	}
}
