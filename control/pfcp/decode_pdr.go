// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
)

// put is how a decoded value and an error of a leaf reach where they belong.
func put[T any](to *T, v T, err *Error) *Error {
	*to = v
	return err
}

func add[T any](to *[]T, v T, err *Error) *Error {
	*to = append(*to, v)
	return err
}

// decodePDR reads Create PDR, §7.5.2.2, and Update PDR, §7.5.4.2.
func decodePDR(g *group, b []byte) (rules.PDR, *Error) {
	var p rules.PDR
	mar := false
	err := g.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.PDRID:
			p.ID = u16(v)
		case ie.Precedence:
			p.Precedence = pointer(u32(v))
		case ie.PDI:
			d, err := decodePDI(v)
			return put(&p.PDI, d, err)
		case ie.OuterHeaderRemoval:
			p.OuterHeaderRemoval = &rules.OuterHeaderRemoval{Description: v[0]}
			if len(v) > 1 {
				p.OuterHeaderRemoval.Extension = v[1]
			}
		case ie.FARID:
			p.FARID = pointer(u32(v))
		case ie.MARID:
			mar = true
		case ie.URRID:
			p.URRIDs = append(p.URRIDs, u32(v))
		case ie.QERID:
			p.QERIDs = append(p.QERIDs, u32(v))
		case ie.ActivatePredefinedRules:
			p.Predefined = append(p.Predefined, string(v))
		case ie.DeactivatePredefinedRules:
			p.Deactivated = append(p.Deactivated, string(v))
		}
		return nil
	})
	if err == nil && g == createPDR && p.FARID == nil && p.Predefined == nil && !mar {
		err = g.fail(rules.CauseConditionalIEMissing, ie.FARID)
	}
	return p, err
}

// decodePDI, table 7.5.2.2-2.
func decodePDI(b []byte) (*rules.PDI, *Error) {
	d := &rules.PDI{}
	err := pdi.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.SourceInterface:
			d.Source = v[0] & 15
			if d.Source > rules.VNInternal {
				return pdi.fail(rules.CauseMandatoryIEIncorrect, t)
			}
		case ie.TGPPInterfaceType:
			d.SourceType = pointer(v[0] & 63)
		case ie.FTEID:
			id, err := fteid(pdi, v)
			return put(&d.LocalFTEID, id, err)
		case ie.NetworkInstance:
			d.NetworkInstance = pointer(name(v))
		case ie.UEIPAddress:
			a, err := ueIP(pdi, v)
			return add(&d.UEIPs, a, err)
		case ie.TrafficEndpointID:
			d.TrafficEndpoints = append(d.TrafficEndpoints, v[0])
		case ie.SDFFilter:
			s, err := sdfFilter(pdi, v)
			return add(&d.SDFFilters, s, err)
		case ie.ApplicationID:
			d.ApplicationID = pointer(string(v))
		case ie.EthernetPDUSessionInformation:
			d.Ethernet = v[0]&1 != 0
		case ie.EthernetPacketFilter:
			f, err := decodeEthernetFilter(v)
			return add(&d.EthernetFilters, f, err)
		case ie.QFI:
			d.QFIs = append(d.QFIs, v[0]&63)
		case ie.FramedRoute:
			d.FramedRoutes = append(d.FramedRoutes, string(v))
		case ie.FramedIPv6Route:
			d.FramedIPv6Routes = append(d.FramedIPv6Routes, string(v))
		}
		return nil
	})
	return d, err
}

// decodeTrafficEndpoint reads Create and Update Traffic Endpoint, §7.5.2.7, §7.5.4.13.
func decodeTrafficEndpoint(b []byte) (rules.TrafficEndpoint, *Error) {
	var e rules.TrafficEndpoint
	g := trafficEndpoint
	err := g.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.TrafficEndpointID:
			e.ID = v[0]
		case ie.SourceInterface:
			e.Source = pointer(v[0] & 15)
		case ie.TGPPInterfaceType:
			e.SourceType = pointer(v[0] & 63)
		case ie.FTEID:
			id, err := fteid(g, v)
			return put(&e.LocalFTEID, id, err)
		case ie.NetworkInstance:
			e.NetworkInstance = pointer(name(v))
		case ie.UEIPAddress:
			a, err := ueIP(g, v)
			return add(&e.UEIPs, a, err)
		case ie.QFI:
			e.QFIs = append(e.QFIs, v[0]&63)
		case ie.FramedRoute:
			e.FramedRoutes = append(e.FramedRoutes, string(v))
		case ie.FramedIPv6Route:
			e.FramedIPv6Routes = append(e.FramedIPv6Routes, string(v))
		}
		return nil
	})
	return e, err
}
