// SPDX-License-Identifier: BSD-3-Clause
package dptest

import (
	"net"
	"sort"

	"google.golang.org/protobuf/proto"

	"airpath/control/dataplane"
	"airpath/control/upfpb"
)

// resultsMax is how many results a Reply holds here: few, so that clients meet several.
const resultsMax = 8

func (u *Unit) do(conn *dataplane.Conn, r *upfpb.Request) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if conn != u.conn {
		return net.ErrClosed // another agent came
	}
	reply := &upfpb.Reply{Seq: r.GetSeq()}
	switch body := r.GetBody().(type) {
	case *upfpb.Request_Hello:
		reply.Body = &upfpb.Reply_Welcome{Welcome: u.welcome()}
	case *upfpb.Request_Config:
		u.config = body.Config
		u.configs++
		if err := u.reply(conn, reply); err != nil {
			return err
		}
		for _, t := range u.told {
			if u.configs > 1 && u.configured == conn {
				break // told before
			}
			if err := conn.SendMessage(&upfpb.Answer{Body: &upfpb.Answer_Told{Told: t}}); err != nil {
				return err
			}
		}
		if u.configured == conn {
			return nil
		}
		u.configured = conn
		for _, e := range u.events {
			if err := send(conn, e); err != nil {
				return err
			}
		}
		return nil
	case *upfpb.Request_Apply:
		u.applies++
		result := &upfpb.ApplyResult{}
		for _, op := range body.Apply.GetOps() {
			u.ops++
			result.Results = append(result.Results, u.keep(op, u.op(op)))
		}
		if u.silent {
			return nil
		}
		for len(result.Results) > resultsMax {
			part := &upfpb.ApplyResult{Results: result.Results[:resultsMax], More: true}
			result.Results = result.Results[resultsMax:]
			if err := u.reply(conn, &upfpb.Reply{Seq: r.GetSeq(),
				Body: &upfpb.Reply_Result{Result: part}}); err != nil {
				return err
			}
		}
		reply.Body = &upfpb.Reply_Result{Result: result}
	case *upfpb.Request_List:
		reply.Body = &upfpb.Reply_Sessions{Sessions: u.list(body.List)}
	case *upfpb.Request_Ack:
		if u.deaf {
			return nil
		}
		u.acked = max(u.acked, body.Ack.GetEvent())
		for len(u.told) > 0 && u.told[0].GetNumber() <= body.Ack.GetTold() {
			u.told = u.told[1:]
		}
		for len(u.events) > 0 && u.events[0].GetNumber() <= u.acked {
			u.events = u.events[1:]
		}
		return nil
	case *upfpb.Request_Applications:
		done := u.takeApplications(body.Applications, reply)
		if u.silent {
			return nil
		}
		if err := u.reply(conn, reply); err != nil || done == nil {
			return err
		}
		return conn.SendMessage(&upfpb.Answer{Body: &upfpb.Answer_ApplicationsDone{ApplicationsDone: done}})
	default:
		reply.Error = "request of no known kind"
	}
	return u.reply(conn, reply)
}

func (u *Unit) reply(conn *dataplane.Conn, reply *upfpb.Reply) error {
	return conn.SendMessage(&upfpb.Answer{Body: &upfpb.Answer_Reply{Reply: reply}})
}

func send(conn *dataplane.Conn, e *upfpb.Event) error {
	return conn.SendMessage(&upfpb.Answer{Body: &upfpb.Answer_Event{Event: e}})
}

func (u *Unit) welcome() *upfpb.Welcome {
	buckets := make([]uint32, 4096)
	for i := range buckets {
		buckets[i] = uint32(i % 2)
	}
	return &upfpb.Welcome{
		Instance: u.instance, Unit: "dptest", Interfaces: u.interfaces, Workers: 2, Steering: "software",
		BucketWorkers: buckets, Sessions: uint32(len(u.sessions)), AckedEvent: u.acked, BufferingPacketsMax: 1024,
		ApplicationsGeneration: u.generation, Told: u.toldLast(),
	}
}

func (u *Unit) toldLast() uint64 {
	if len(u.told) == 0 {
		return 0
	}
	return u.lastTold
}

// keep the usage of a result until it is acknowledged.
func (u *Unit) keep(op *upfpb.Op, r *upfpb.OpResult) *upfpb.OpResult {
	if len(r.GetReports())+len(r.GetRemoved()) == 0 {
		return r
	}
	id := max(op.GetSet().GetId(), op.GetDelete().GetId(), op.GetQuery().GetId())
	u.lastTold++
	r.Told = u.lastTold
	u.told = append(u.told, &upfpb.Told{Number: r.Told, Id: id, Reports: r.Reports, Removed: r.Removed})
	return r
}

func (u *Unit) list(l *upfpb.List) *upfpb.Sessions {
	limit := int(l.GetMax())
	if limit == 0 {
		limit = 4096
	}
	out := &upfpb.Sessions{}
	for _, id := range u.ids() {
		if id <= l.GetAfter() {
			continue
		}
		if len(out.Sessions) == limit {
			out.More = true
			break
		}
		out.Sessions = append(out.Sessions, &upfpb.SessionVersion{Id: id, Version: u.sessions[id].GetVersion()})
	}
	return out
}

func (u *Unit) op(op *upfpb.Op) *upfpb.OpResult {
	switch o := op.GetOp().(type) {
	case *upfpb.Op_Set:
		return u.set(o.Set)
	case *upfpb.Op_Delete:
		s := u.sessions[o.Delete.GetId()]
		if s == nil {
			return &upfpb.OpResult{Status: upfpb.Status_UNKNOWN_SESSION}
		}
		delete(u.sessions, s.GetId())
		return &upfpb.OpResult{Reports: u.take(s, urrIDs(s), uint32(upfpb.Trigger_TERMR))}
	case *upfpb.Op_Query:
		s := u.sessions[o.Query.GetId()]
		if s == nil {
			return &upfpb.OpResult{Status: upfpb.Status_UNKNOWN_SESSION}
		}
		ids := o.Query.GetUrrIds()
		if len(ids) == 0 {
			ids = urrIDs(s)
		}
		return &upfpb.OpResult{Reports: u.take(s, ids, uint32(upfpb.Trigger_IMMER))}
	}
	return &upfpb.OpResult{Status: upfpb.Status_RULE_FAILED, Error: "operation of no known kind"}
}

func (u *Unit) set(s *upfpb.Session) *upfpb.OpResult {
	if u.discard {
		return &upfpb.OpResult{}
	}
	if u.record {
		u.sets = append(u.sets, proto.Clone(s).(*upfpb.Session))
	}
	u.broken = append(u.broken, Check(s, u.interfaces)...)
	if len(u.fail) > 0 {
		r := u.fail[0]
		u.fail = u.fail[1:]
		if r.GetStatus() != upfpb.Status_OK {
			return r
		}
	}
	old := u.sessions[s.GetId()]
	if old != nil && s.GetVersion() <= old.GetVersion() {
		return &upfpb.OpResult{Status: upfpb.Status_STALE}
	}
	r := &upfpb.OpResult{}
	has := map[uint32]bool{}
	for _, urr := range s.GetUrrs() {
		has[urr.GetId()] = true
		if urr.GetCarry() != nil && old == nil {
			u.usage[usageKey{s.GetId(), urr.GetId()}] = proto.Clone(urr.GetCarry()).(*upfpb.Usage)
		}
	}
	if old != nil {
		var removed []uint32
		for _, id := range urrIDs(old) {
			if !has[id] {
				removed = append(removed, id)
			}
		}
		r.Removed = u.take(old, removed, uint32(upfpb.Trigger_TERMR))
	}
	query := s.GetQueryUrrs()
	if s.GetQueryAll() {
		query = urrIDs(s)
	}
	r.Reports = u.take(s, query, uint32(upfpb.Trigger_IMMER))
	kept := proto.Clone(s).(*upfpb.Session)
	kept.EndMarkers, kept.QueryUrrs, kept.QueryAll, kept.DropBuffered = nil, nil, false, false
	u.sessions[s.GetId()] = kept
	return r
}

// take reports usage since the last report and begins anew.
func (u *Unit) take(s *upfpb.Session, ids []uint32, trigger uint32) []*upfpb.UsageReport {
	var out []*upfpb.UsageReport
	for _, id := range ids {
		key := usageKey{s.GetId(), id}
		usage := u.usage[key]
		if usage == nil {
			usage = &upfpb.Usage{}
		}
		u.usage[key] = afterReport(usage)
		out = append(out, &upfpb.UsageReport{UrrId: id, Triggers: trigger, Usage: usage})
	}
	return out
}

// afterReport keeps what counts against thresholds and quotas.
func afterReport(usage *upfpb.Usage) *upfpb.Usage {
	return &upfpb.Usage{
		QuotaTotalBytes: usage.GetQuotaTotalBytes(), QuotaUlBytes: usage.GetQuotaUlBytes(),
		QuotaDlBytes: usage.GetQuotaDlBytes(), QuotaDurationMs: usage.GetQuotaDurationMs(),
		QuotaEvents: usage.GetQuotaEvents(),
	}
}

func urrIDs(s *upfpb.Session) []uint32 {
	ids := make([]uint32, 0, len(s.GetUrrs()))
	for _, u := range s.GetUrrs() {
		ids = append(ids, u.GetId())
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	return ids
}

// Count adds traffic to a URR.
func (u *Unit) Count(id uint64, urr uint32, uplink, downlink uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	key := usageKey{id, urr}
	usage := u.usage[key]
	if usage == nil {
		usage = &upfpb.Usage{}
		u.usage[key] = usage
	}
	usage.UlBytes += uplink
	usage.DlBytes += downlink
	usage.TotalBytes += uplink + downlink
	usage.QuotaUlBytes += uplink
	usage.QuotaDlBytes += downlink
	usage.QuotaTotalBytes += uplink + downlink
	usage.UlPackets++
	usage.TotalPackets++
}

// Usage since the last report.
func (u *Unit) Usage(id uint64, urr uint32) *upfpb.Usage {
	u.mu.Lock()
	defer u.mu.Unlock()
	if usage := u.usage[usageKey{id, urr}]; usage != nil {
		return proto.Clone(usage).(*upfpb.Usage)
	}
	return nil
}

// Report makes a usage event of a URR as a threshold does.
func (u *Unit) Report(id uint64, urr uint32, trigger upfpb.Trigger) error {
	u.mu.Lock()
	s := u.sessions[id]
	reports := u.take(&upfpb.Session{Id: id}, []uint32{urr}, uint32(trigger))
	u.mu.Unlock()
	if s == nil {
		return ErrNoAgent
	}
	return u.Emit(&upfpb.Event{Body: &upfpb.Event_Usage{Usage: &upfpb.UsageEvent{Id: id, Reports: reports}}})
}

// Load tells a load.
func (u *Unit) Load(l *upfpb.Load) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conn == nil {
		return dataplane.ErrDisconnected
	}
	return u.conn.SendMessage(&upfpb.Answer{Body: &upfpb.Answer_Load{Load: l}})
}

// Emit numbers an event, keeps it until acknowledged and sends it.
func (u *Unit) Emit(e *upfpb.Event) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lastEvent++
	e.Number = u.lastEvent
	u.events = append(u.events, e)
	if u.conn == nil || u.config == nil {
		return ErrNoAgent
	}
	return send(u.conn, e)
}

// Checkpoint sends the usage of every URR counted.
func (u *Unit) Checkpoint() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	by := map[uint64]*upfpb.Checkpoint{}
	points := &upfpb.Checkpoints{}
	for key, usage := range u.usage {
		if u.sessions[key.id] == nil {
			continue
		}
		c := by[key.id]
		if c == nil {
			c = &upfpb.Checkpoint{Id: key.id}
			by[key.id] = c
			points.Sessions = append(points.Sessions, c)
		}
		c.Urrs = append(c.Urrs, &upfpb.UrrUsage{UrrId: key.urr, Usage: proto.Clone(usage).(*upfpb.Usage)})
	}
	if u.conn == nil {
		return ErrNoAgent
	}
	return u.conn.SendMessage(&upfpb.Answer{Body: &upfpb.Answer_Checkpoints{Checkpoints: points}})
}
