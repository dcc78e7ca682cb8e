// SPDX-License-Identifier: BSD-3-Clause

package bench

import (
	"net/netip"
	"os"
	"strings"
	"testing"

	"airpath/control/pfcp"
)

// The templates are the captured messages, and what is filled in lands where it should.
func TestTemplates(t *testing.T) {
	text, err := os.ReadFile("../pfcp/testdata/smf-session.hex")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if capturedEstablishment != lines[3] || capturedModification != lines[5] {
		t.Error("not the captured messages")
	}
	smf, ue := netip.MustParseAddr("10.9.8.7"), netip.MustParseAddr("10.64.3.2")
	e := establishmentOf(smf)
	e.session(41, ue)
	h, body, err := pfcp.ParseHeader(e.fill(0x123456, 0))
	if err != nil || h.Sequence != 0x123456 || h.SEID != 0 {
		t.Fatalf("%+v, %v", h, err)
	}
	r, wrong := pfcp.DecodeEstablishment(body)
	if wrong != nil {
		t.Fatal(wrong)
	}
	if r.Node.Addr != smf || r.CPFSEID.IPv4 != smf || r.CPFSEID.SEID != 42 || r.PDRs[0].PDI.UEIPs[0].IPv4 != ue ||
		r.FARs[2].Forwarding.OuterHeaderCreation.IPv4 != smf {
		t.Errorf("%+v", r)
	}
	m := modification()
	h, body, err = pfcp.ParseHeader(m.fill(7, 99))
	if err != nil || h.SEID != 99 {
		t.Fatalf("%+v, %v", h, err)
	}
	if c, wrong := pfcp.DecodeModification(body); wrong != nil || c.UpdateFARs[0].Forwarding.OuterHeaderCreation.TEID != 2 || m.octets[m.teid+3] != 2 {
		t.Errorf("%+v, %v", c, wrong)
	}
	d := deletion()
	if h, _, err := pfcp.ParseHeader(d.fill(7, 99)); err != nil || h.Type != pfcp.SessionDeletionRequest || h.SEID != 99 {
		t.Errorf("%+v, %v", h, err)
	}
}
