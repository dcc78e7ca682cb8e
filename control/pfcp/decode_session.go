// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
)

// restorationFlag is RESTI of PFCPSEReq-Flags, §8.2.123.
const restorationFlag = 1

// DecodeEstablishment reads the IEs of a PFCP Session Establishment Request, §7.5.2.
func DecodeEstablishment(b []byte) (*rules.EstablishRequest, *Error) {
	r := &rules.EstablishRequest{}
	err := establishment.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.NodeID:
			id, err := nodeID(establishment, v)
			return put(&r.Node, id, err)
		case ie.FSEID:
			id, err := fseid(establishment, v)
			return put(&r.CPFSEID, id, err)
		case ie.CreatePDR:
			p, err := decodePDR(createPDR, v)
			return add(&r.PDRs, p, err)
		case ie.CreateFAR:
			f, err := decodeFAR(createFAR, v)
			return add(&r.FARs, f, err)
		case ie.CreateURR:
			u, err := decodeURR(createURR, v)
			return add(&r.URRs, u, err)
		case ie.CreateQER:
			q, err := decodeQER(createQER, v)
			return add(&r.QERs, q, err)
		case ie.CreateBAR:
			o, err := decodeBAR(v)
			return add(&r.BARs, o, err)
		case ie.CreateTrafficEndpoint:
			e, err := decodeTrafficEndpoint(v)
			return add(&r.TrafficEndpoints, e, err)
		case ie.PDNType:
			r.PDNType = v[0] & 7
		case ie.UserPlaneInactivityTimer:
			r.InactivityTimer = pointer(u32(v))
		case ie.UserID:
			r.UserID = userID(v)
		case ie.APNDNN:
			r.DNN = name(v)
		case ie.PFCPSEReqFlags:
			r.Restoration = v[0]&restorationFlag != 0
		}
		return nil
	})
	return r, err
}

// DecodeModification reads the IEs of a PFCP Session Modification Request, §7.5.4.
func DecodeModification(b []byte) (*rules.ModifyRequest, *Error) {
	r := &rules.ModifyRequest{}
	err := modification.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.NodeID:
			id, err := nodeID(modification, v)
			return put(&r.Node, &id, err)
		case ie.FSEID:
			id, err := fseid(modification, v)
			return put(&r.CPFSEID, &id, err)
		case ie.PFCPSMReqFlags:
			r.Flags = v[0]
		case ie.UserPlaneInactivityTimer:
			r.InactivityTimer = pointer(u32(v))
		case ie.QueryURR:
			id, err := removed(queryURR, v)
			return add(&r.QueryURRs, id, err)
		case ie.QueryURRReference:
			r.QueryReference = pointer(u32(v))
		case ie.RemovePDR, ie.RemoveFAR, ie.RemoveURR, ie.RemoveQER, ie.RemoveBAR,
			ie.RemoveTrafficEndpoint:
			return decodeRemove(r, t, v)
		case ie.CreatePDR, ie.CreateFAR, ie.CreateURR, ie.CreateQER, ie.CreateBAR,
			ie.CreateTrafficEndpoint:
			return decodeCreate(r, t, v)
		default:
			return decodeUpdate(r, t, v)
		}
		return nil
	})
	return r, err
}

// removed reads a group of nothing but a rule's ID.
func removed(g *group, b []byte) (uint32, *Error) {
	var id uint32
	err := g.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.BARID, ie.TrafficEndpointID:
			id = uint32(v[0])
		case ie.PDRID:
			id = uint32(u16(v))
		default:
			id = u32(v)
		}
		return nil
	})
	return id, err
}

func decodeRemove(r *rules.ModifyRequest, t uint16, v []byte) *Error {
	switch t {
	case ie.RemovePDR:
		id, err := removed(removePDR, v)
		return add(&r.RemovePDRs, uint16(id), err)
	case ie.RemoveFAR:
		id, err := removed(removeFAR, v)
		return add(&r.RemoveFARs, id, err)
	case ie.RemoveURR:
		id, err := removed(removeURR, v)
		return add(&r.RemoveURRs, id, err)
	case ie.RemoveQER:
		id, err := removed(removeQER, v)
		return add(&r.RemoveQERs, id, err)
	case ie.RemoveBAR:
		id, err := removed(removeBAR, v)
		return add(&r.RemoveBARs, uint8(id), err)
	default:
		id, err := removed(removeTrafficEndpoint, v)
		return add(&r.RemoveTrafficEndpoints, uint8(id), err)
	}
}

func decodeCreate(r *rules.ModifyRequest, t uint16, v []byte) *Error {
	switch t {
	case ie.CreatePDR:
		p, err := decodePDR(createPDR, v)
		return add(&r.CreatePDRs, p, err)
	case ie.CreateFAR:
		f, err := decodeFAR(createFAR, v)
		return add(&r.CreateFARs, f, err)
	case ie.CreateURR:
		u, err := decodeURR(createURR, v)
		return add(&r.CreateURRs, u, err)
	case ie.CreateQER:
		q, err := decodeQER(createQER, v)
		return add(&r.CreateQERs, q, err)
	case ie.CreateBAR:
		o, err := decodeBAR(v)
		return add(&r.CreateBARs, o, err)
	default:
		e, err := decodeTrafficEndpoint(v)
		return add(&r.CreateTrafficEndpoints, e, err)
	}
}

func decodeUpdate(r *rules.ModifyRequest, t uint16, v []byte) *Error {
	switch t {
	case ie.UpdatePDR:
		p, err := decodePDR(updatePDR, v)
		return add(&r.UpdatePDRs, p, err)
	case ie.UpdateFAR:
		f, err := decodeFAR(updateFAR, v)
		return add(&r.UpdateFARs, f, err)
	case ie.UpdateURR:
		u, err := decodeURR(updateURR, v)
		return add(&r.UpdateURRs, u, err)
	case ie.UpdateQER:
		q, err := decodeQER(updateQER, v)
		return add(&r.UpdateQERs, q, err)
	case ie.UpdateTrafficEndpoint:
		e, err := decodeTrafficEndpoint(v)
		return add(&r.UpdateTrafficEndpoints, e, err)
	default:
		o, err := decodeBAR(v)
		return add(&r.UpdateBARs, o, err)
	}
}

// DecodeReportAnswer reads the IEs of a PFCP Session Report Response, §7.5.9.
func DecodeReportAnswer(b []byte) (*rules.ReportAnswer, *Error) {
	r := &rules.ReportAnswer{}
	g := sessionReportAnswer
	err := g.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.Cause:
			r.Cause = rules.Cause(v[0])
		case ie.UpdateBARWithinSessionReportResponse:
			o, err := decodeBAR(v)
			return add(&r.UpdateBARs, o, err)
		case ie.PFCPSRRspFlags:
			r.DropBuffer = v[0]&1 != 0
		case ie.FSEID:
			id, err := fseid(g, v)
			return put(&r.CPFSEID, &id, err)
		}
		return nil
	})
	return r, err
}

// DecodeDeletion checks a PFCP Session Deletion Request, §7.5.6, which has no IEs for us.
func DecodeDeletion(b []byte) *Error {
	return deletion.walk(b, func(uint16, []byte) *Error { return nil })
}
