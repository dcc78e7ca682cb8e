// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"reflect"
	"testing"

	"airpath/control/dataplane/dptest"
	"airpath/control/rules"
	"airpath/control/upfpb"
)

type want struct {
	cause rules.Cause
	ie    uint16
	kind  rules.RuleKind
	id    uint32
	none  bool // no failed rule
}

func holds(t *testing.T, what string, a *rules.Answer, w want) {
	t.Helper()
	switch {
	case a.Cause != w.cause || a.OffendingIE != w.ie:
		t.Errorf("%s: %v (%s), IE %d", what, a.Cause, a.Reason, a.OffendingIE)
	case w.none != (a.Failed == nil):
		t.Errorf("%s: failed rule %+v", what, a.Failed)
	case a.Failed != nil && *a.Failed != rules.FailedRule{Kind: w.kind, ID: w.id}:
		t.Errorf("%s: failed rule %+v", what, a.Failed)
	case a.CPSEID != 7:
		t.Errorf("%s: SEID %d", what, a.CPSEID)
	}
}

func pdr(q *rules.EstablishRequest, i int) *rules.PDR { return &q.PDRs[i] }

// TestRefusedEstablishments breaks a good request in one place each. TS 29.244 table 8.2.1-1.
func TestRefusedEstablishments(t *testing.T) {
	r := newRig(t)
	action := func(a rules.ApplyAction) func(*rules.EstablishRequest) {
		return func(q *rules.EstablishRequest) { q.FARs[1].Action = &a }
	}
	filters := func(f ...rules.SDFFilter) func(*rules.EstablishRequest) {
		return func(q *rules.EstablishRequest) { pdr(q, 0).PDI.SDFFilters = f }
	}
	redirect := func(kind uint8, address string) func(*rules.EstablishRequest) {
		return func(q *rules.EstablishRequest) {
			q.FARs[1].Forwarding.Redirect = &rules.Redirect{Type: kind, Address: address}
		}
	}
	pdrFails := want{cause: rules.CauseRuleFailure, kind: rules.KindPDR, id: 1}
	for what, c := range map[string]struct {
		spoil func(*rules.EstablishRequest)
		want  want
	}{
		"no PDR":           {func(q *rules.EstablishRequest) { q.PDRs = nil }, want{cause: 66, ie: rules.IECreatePDR, none: true}},
		"no FAR":           {func(q *rules.EstablishRequest) { q.FARs = nil }, want{cause: 66, ie: rules.IECreateFAR, none: true}},
		"no IP":            {func(q *rules.EstablishRequest) { q.PDNType = rules.PDNNonIP }, want{cause: 76, ie: rules.IEPDNType, none: true}},
		"Ethernet":         {func(q *rules.EstablishRequest) { q.PDNType = rules.PDNEthernet }, pdrFails},
		"frames":           {func(q *rules.EstablishRequest) { pdr(q, 0).PDI.Ethernet = true }, pdrFails},
		"PDR twice":        {func(q *rules.EstablishRequest) { pdr(q, 1).ID = 1 }, pdrFails},
		"PDR 0":            {func(q *rules.EstablishRequest) { pdr(q, 1).ID = 0 }, want{cause: 73, kind: rules.KindPDR}},
		"FAR twice":        {func(q *rules.EstablishRequest) { q.FARs[1].ID = 1 }, want{cause: 73, kind: rules.KindFAR, id: 1}},
		"QER twice":        {func(q *rules.EstablishRequest) { q.QERs = append(q.QERs, q.QERs[0]) }, want{cause: 73, kind: rules.KindQER, id: 1}},
		"URR twice":        {func(q *rules.EstablishRequest) { q.URRs = append(q.URRs, q.URRs[0]) }, want{cause: 73, kind: rules.KindURR, id: 1}},
		"BAR twice":        {func(q *rules.EstablishRequest) { q.BARs = append(q.BARs, q.BARs[0]) }, want{cause: 73, kind: rules.KindBAR, id: 1}},
		"no FAR of a PDR":  {func(q *rules.EstablishRequest) { pdr(q, 0).FARID = nil }, want{cause: 67, ie: rules.IEFARID, kind: rules.KindPDR, id: 1}},
		"FAR not there":    {func(q *rules.EstablishRequest) { pdr(q, 0).FARID = ptr(uint32(9)) }, pdrFails},
		"QER not there":    {func(q *rules.EstablishRequest) { pdr(q, 0).QERIDs = []uint32{1, 9} }, pdrFails},
		"URR not there":    {func(q *rules.EstablishRequest) { pdr(q, 0).URRIDs = []uint32{9} }, pdrFails},
		"BAR not there":    {func(q *rules.EstablishRequest) { q.BARs = nil }, want{cause: 73, kind: rules.KindFAR, id: 1}},
		"predefined":       {func(q *rules.EstablishRequest) { pdr(q, 0).Predefined = []string{"x"} }, want{cause: 80, ie: rules.IEActivatePredefined, kind: rules.KindPDR, id: 1}},
		"application":      {func(q *rules.EstablishRequest) { pdr(q, 0).PDI.ApplicationID = ptr("x") }, want{cause: 81, ie: rules.IEApplicationID, kind: rules.KindPDR, id: 1}},
		"source":           {func(q *rules.EstablishRequest) { pdr(q, 0).PDI.Source = 4 }, want{cause: 76, ie: rules.IESourceInterface, kind: rules.KindPDR, id: 1}},
		"no such instance": {func(q *rules.EstablishRequest) { pdr(q, 0).PDI.NetworkInstance = ptr("x") }, pdrFails},
		"no precedence":    {func(q *rules.EstablishRequest) { pdr(q, 0).Precedence = nil }, want{cause: 66, ie: rules.IEPrecedence, kind: rules.KindPDR, id: 1}},
		"no PDI":           {func(q *rules.EstablishRequest) { pdr(q, 0).PDI = nil }, want{cause: 66, ie: rules.IEPDI, kind: rules.KindPDR, id: 1}},
		"CP F-TEID": {func(q *rules.EstablishRequest) {
			pdr(q, 1).PDI.LocalFTEID = &rules.FTEID{TEID: 9, IPv4: ip("10.3.0.1")}
		}, want{cause: 71, ie: rules.IEFTEID, kind: rules.KindPDR, id: 2}},
		"VLAN removal":  {func(q *rules.EstablishRequest) { pdr(q, 1).OuterHeaderRemoval.Description = rules.RemoveVLANS }, want{cause: 76, ie: rules.IEOuterHeaderRemoval, kind: rules.KindPDR, id: 2}},
		"two addresses": {func(q *rules.EstablishRequest) { pdr(q, 1).PDI.UEIPs = []rules.UEIP{{IPv4: ip("10.45.0.9")}} }, want{cause: 73, kind: rules.KindPDR, id: 2}},
		"no pool": {func(q *rules.EstablishRequest) {
			pdr(q, 0).PDI.NetworkInstance, pdr(q, 0).PDI.UEIPs = ptr("ims"), []rules.UEIP{{ChooseIPv6: true}}
		}, pdrFails},
		"no action":           {func(q *rules.EstablishRequest) { q.FARs[1].Action = nil }, want{cause: 66, ie: rules.IEApplyAction, kind: rules.KindFAR, id: 2}},
		"two actions":         {action(rules.ActionDROP | rules.ActionFORW), want{cause: 69, ie: rules.IEApplyAction, kind: rules.KindFAR, id: 2}},
		"notify alone":        {action(rules.ActionFORW | rules.ActionNOCP), want{cause: 69, ie: rules.IEApplyAction, kind: rules.KindFAR, id: 2}},
		"multicast":           {action(rules.ActionIPMA), want{cause: 76, ie: rules.IEApplyAction, kind: rules.KindFAR, id: 2}},
		"duplicate nowhere":   {action(rules.ActionFORW | rules.ActionDUPL), want{cause: 67, ie: 5, kind: rules.KindFAR, id: 2}},
		"forward nowhere":     {func(q *rules.EstablishRequest) { q.FARs[1].Forwarding = nil }, want{cause: 67, ie: rules.IEForwardingParameters, kind: rules.KindFAR, id: 2}},
		"no destination":      {func(q *rules.EstablishRequest) { q.FARs[1].Forwarding.Destination = nil }, want{cause: 66, ie: rules.IEDestinationInterface, kind: rules.KindFAR, id: 2}},
		"policy":              {func(q *rules.EstablishRequest) { q.FARs[1].Forwarding.ForwardingPolicy = ptr("x") }, want{cause: 70, ie: rules.IEForwardingPolicy, kind: rules.KindFAR, id: 2}},
		"redirect to IPv4":    {redirect(0, "10.0.0.1"), want{cause: 76, ie: rules.IERedirectInformation, kind: rules.KindFAR, id: 2}},
		"redirect to nothing": {redirect(2, "gopher://a"), want{cause: 69, ie: rules.IERedirectInformation, kind: rules.KindFAR, id: 2}},
		"redirect and a line": {redirect(2, "http://a/\r\nSet-Cookie: a=b"), want{cause: 69, ie: rules.IERedirectInformation, kind: rules.KindFAR, id: 2}},
		"FAR of ours":         {func(q *rules.EstablishRequest) { q.FARs[1].ID |= rules.LocalRule }, want{cause: 73, kind: rules.KindFAR, id: 2 | rules.LocalRule}},
		"QER of ours":         {func(q *rules.EstablishRequest) { q.QERs[0].ID |= rules.LocalRule }, want{cause: 73, kind: rules.KindQER, id: 1 | rules.LocalRule}},
		"URR of ours":         {func(q *rules.EstablishRequest) { q.URRs[0].ID |= rules.LocalRule }, want{cause: 73, kind: rules.KindURR, id: 1 | rules.LocalRule}},
		"lawful interception": {func(q *rules.EstablishRequest) { q.FARs[1].Forwarding.Destination = ptr(rules.LIFunction) }, want{cause: 76, ie: rules.IEDestinationInterface, kind: rules.KindFAR, id: 2}},
		"where to":            {func(q *rules.EstablishRequest) { q.FARs[1].Forwarding.NetworkInstance = ptr("x") }, want{cause: 73, kind: rules.KindFAR, id: 2}},
		"C-tag": {func(q *rules.EstablishRequest) {
			q.FARs[1].Forwarding.OuterHeaderCreation = &rules.OuterHeaderCreation{Description: rules.CreateCTag}
		}, want{cause: 76, ie: rules.IEOuterHeaderCreation, kind: rules.KindFAR, id: 2}},
		"tunnel to nobody": {func(q *rules.EstablishRequest) {
			q.FARs[1].Forwarding.OuterHeaderCreation = &rules.OuterHeaderCreation{Description: rules.CreateGTPUIPv4, TEID: 1}
		}, want{cause: 69, ie: rules.IEOuterHeaderCreation, kind: rules.KindFAR, id: 2}},
		"QFI":              {func(q *rules.EstablishRequest) { q.QERs[0].QFI = ptr(uint8(64)) }, want{cause: 69, ie: rules.IEQFI, kind: rules.KindQER, id: 1}},
		"GBR above MBR":    {func(q *rules.EstablishRequest) { q.QERs[0].GBR = &rules.Bitrate{UL: 1, DL: 1000001} }, want{cause: 69, ie: rules.IEGBR, kind: rules.KindQER, id: 1}},
		"no method":        {func(q *rules.EstablishRequest) { q.URRs[0].Method = nil }, want{cause: 66, ie: rules.IEMeasurementMethod, kind: rules.KindURR, id: 1}},
		"method 0":         {func(q *rules.EstablishRequest) { q.URRs[0].Method = ptr(uint8(0)) }, want{cause: 69, ie: rules.IEMeasurementMethod, kind: rules.KindURR, id: 1}},
		"no triggers":      {func(q *rules.EstablishRequest) { q.URRs[0].Triggers = nil }, want{cause: 66, ie: rules.IEReportingTriggers, kind: rules.KindURR, id: 1}},
		"linked URR":       {func(q *rules.EstablishRequest) { q.URRs[0].LinkedURRIDs = []uint32{9} }, want{cause: 73, kind: rules.KindURR, id: 1}},
		"quota action":     {func(q *rules.EstablishRequest) { q.URRs[0].QuotaFARID = ptr(uint32(9)) }, want{cause: 73, kind: rules.KindURR, id: 1}},
		"filter":           {filters(rules.SDFFilter{Flow: ptr("permit out ip from any to any frag")}), want{cause: 73, ie: rules.IESDFFilter, kind: rules.KindPDR, id: 1}},
		"filter ID":        {filters(rules.SDFFilter{ID: ptr(uint32(9))}), want{cause: 73, ie: rules.IESDFFilter, kind: rules.KindPDR, id: 1}},
		"framed route":     {func(q *rules.EstablishRequest) { pdr(q, 0).PDI.FramedRoutes = []string{"10.0.0.0/x"} }, want{cause: 73, ie: rules.IEFramedRoute, kind: rules.KindPDR, id: 1}},
		"traffic endpoint": {func(q *rules.EstablishRequest) { q.TrafficEndpoints = []rules.TrafficEndpoint{{ID: 1}} }, want{cause: 76, ie: rules.IETrafficEndpointID, none: true}},
		"too many rules": {func(q *rules.EstablishRequest) {
			for i := uint32(2); i <= maxRules+1; i++ {
				q.QERs = append(q.QERs, rules.QER{ID: i})
			}
		}, want{cause: 75, none: true}},
	} {
		q := plain(7, "10.45.0.3")
		c.spoil(q)
		a := r.establish(q)
		holds(t, what, a, c.want)
		if a.UPSEID != 0 || a.CreatedPDRs != nil {
			t.Errorf("%s: %+v", what, a)
		}
	}
	unitSays := map[want]*upfpb.OpResult{
		{cause: 73, kind: rules.KindQER, id: 1}: {Status: upfpb.Status_RULE_FAILED, FailedKind: upfpb.RuleKind_RULE_QER, FailedId: 1},
		{cause: 73, none: true}:                 {Status: upfpb.Status_RULE_FAILED},
		{cause: 75, none: true}:                 {Status: upfpb.Status_NO_RESOURCES},
	}
	for w, result := range unitSays {
		r.unit.FailNext(result)
		holds(t, "the unit refuses", r.establish(plain(7, "10.45.0.3")), w)
	}
	if c := r.m.Statistics(); c.Sessions != 0 || c.TEIDs != 0 || len(r.unit.IDs()) != 0 || c.Refused == 0 {
		t.Errorf("something is left: %+v", c)
	}
	r.accepted(r.establish(plain(7, "10.45.0.3"))) // the address is free
}

// TestRefusedModificationsChangeNothing: all or nothing, §5.2.1.
func TestRefusedModificationsChangeNothing(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.accepted(r.modify(seid, toGNB(2, "10.3.0.2")))
	before, _ := r.m.Show(seid)
	sent := r.unit.Session(seid)
	teids := r.m.Statistics().TEIDs
	for what, c := range map[string]struct {
		q    rules.ModifyRequest
		want want
	}{
		"update of no PDR":  {rules.ModifyRequest{UpdatePDRs: []rules.PDR{{ID: 9}}}, want{cause: 73, kind: rules.KindPDR, id: 9}},
		"update of no FAR":  {rules.ModifyRequest{UpdateFARs: []rules.FAR{{ID: 9}}}, want{cause: 73, kind: rules.KindFAR, id: 9}},
		"update of no QER":  {rules.ModifyRequest{UpdateQERs: []rules.QER{{ID: 9}}}, want{cause: 73, kind: rules.KindQER, id: 9}},
		"update of no URR":  {rules.ModifyRequest{UpdateURRs: []rules.URR{{ID: 9}}}, want{cause: 73, kind: rules.KindURR, id: 9}},
		"update of no BAR":  {rules.ModifyRequest{UpdateBARs: []rules.BAR{{ID: 9}}}, want{cause: 73, kind: rules.KindBAR, id: 9}},
		"removal of no PDR": {rules.ModifyRequest{RemovePDRs: []uint16{9}}, want{cause: 73, kind: rules.KindPDR, id: 9}},
		"removal of no FAR": {rules.ModifyRequest{RemoveFARs: []uint32{9}}, want{cause: 73, kind: rules.KindFAR, id: 9}},
		"removal of no QER": {rules.ModifyRequest{RemoveQERs: []uint32{9}}, want{cause: 73, kind: rules.KindQER, id: 9}},
		"removal of no URR": {rules.ModifyRequest{RemoveURRs: []uint32{9}}, want{cause: 73, kind: rules.KindURR, id: 9}},
		"removal of no BAR": {rules.ModifyRequest{RemoveBARs: []uint8{9}}, want{cause: 73, kind: rules.KindBAR, id: 9}},
		"query of no URR":   {rules.ModifyRequest{QueryURRs: []uint32{9}}, want{cause: 73, kind: rules.KindURR, id: 9}},
		"removal of a FAR that is in use": {rules.ModifyRequest{RemoveFARs: []uint32{1}, RemoveQERs: []uint32{1}},
			want{cause: 73, kind: rules.KindPDR, id: 1}},
		"good updates and a bad one": {rules.ModifyRequest{
			UpdateFARs: toGNB(77, "10.3.0.77").UpdateFARs,
			UpdateQERs: []rules.QER{{ID: 1, MBR: &rules.Bitrate{UL: 1, DL: 1}}},
			CreatePDRs: []rules.PDR{{ID: 3, Precedence: ptr(uint32(1)), FARID: ptr(uint32(9)), PDI: &rules.PDI{Source: rules.Access,
				LocalFTEID: &rules.FTEID{Choose: true, ChooseIPv4: true}}}}},
			want{cause: 73, kind: rules.KindPDR, id: 3}},
	} {
		holds(t, what, r.modify(seid, &c.q), c.want)
	}
	r.unit.FailNext(&upfpb.OpResult{Status: upfpb.Status_RULE_FAILED, FailedKind: upfpb.RuleKind_RULE_PDR, FailedId: 3})
	holds(t, "the unit refuses", r.modify(seid, &rules.ModifyRequest{
		CreateFARs: []rules.FAR{{ID: 3, Action: ptr(rules.ActionDROP)}},
		CreatePDRs: []rules.PDR{{ID: 3, Precedence: ptr(uint32(1)), FARID: ptr(uint32(3)), PDI: &rules.PDI{Source: rules.Access,
			LocalFTEID: &rules.FTEID{Choose: true, ChooseIPv4: true}}}},
	}), want{cause: 73, kind: rules.KindPDR, id: 3})
	after, _ := r.m.Show(seid)
	if !reflect.DeepEqual(before, after) {
		t.Errorf("changed:\n%+v\n%+v", before, after)
	}
	if now := r.unit.Session(seid); now.GetVersion() != sent.GetVersion() || r.m.Statistics().TEIDs != teids {
		t.Error("changed in the unit, or TEIDs kept", now, r.m.Statistics().TEIDs)
	}
	if bad := dptest.Check(sent, dptest.Interfaces()); bad != nil {
		t.Error(bad)
	}
}
