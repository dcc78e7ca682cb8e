// SPDX-License-Identifier: BSD-3-Clause
package dptest

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"airpath/control/upfpb"
)

// takeApplications holds the messages of a set to the contract and puts it in force after the last.
func (u *Unit) takeApplications(a *upfpb.Applications, reply *upfpb.Reply) *upfpb.ApplicationsDone {
	if a.GetFirst() {
		u.coming, u.comingOf = nil, a.GetGeneration()
	}
	if a.GetGeneration() == 0 || a.GetGeneration() != u.comingOf {
		reply.Error = fmt.Sprintf("generation %d after %d", a.GetGeneration(), u.comingOf)
		u.broken = append(u.broken, reply.Error)
		return nil
	}
	u.coming = append(u.coming, a.GetApplications()...)
	if !a.GetLast() {
		return nil
	}
	done := &upfpb.ApplicationsDone{Generation: u.comingOf, MemoryBytes: 4096, BuildMs: 1}
	u.sentSets++
	parts := map[uint32]uint32{} // PFDs of an application that came in several
	for _, app := range u.coming {
		if app.GetIndex() == 0 || app.GetIndex() > 65535 || app.GetId() == "" {
			u.broken = append(u.broken, fmt.Sprintf("application %q of index %d", app.GetId(), app.GetIndex()))
		}
		for i, p := range app.GetPfds() {
			if (p.GetKind() == upfpb.Pfd_FLOW) != (p.GetFlow() != nil) || (p.GetText() == "") != (p.GetFlow() != nil) {
				u.broken = append(u.broken, fmt.Sprintf("PFD %v of application %s", p, app.GetId()))
			}
			if u.refuseText != "" && p.GetText() == u.refuseText && done.Error == "" {
				done.Error = fmt.Sprintf("%q costs too much", p.GetText())
				done.FailedApplication, done.FailedPfd = app.GetIndex(), parts[app.GetIndex()]+uint32(i)
			}
			done.Rules++
		}
		parts[app.GetIndex()] += uint32(len(app.GetPfds()))
	}
	if done.Error == "" {
		u.applications, u.generation = u.coming, u.comingOf
	}
	u.coming, u.comingOf = nil, 0
	return done
}

// RefusePFD makes sets with a PFD of this text fail; "": none.
func (u *Unit) RefusePFD(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.refuseText = text
}

// Applications in force, by id, with what they were sent in; how many sets came.
func (u *Unit) Applications() (byID map[string]*upfpb.Application, generation uint32, sets int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	byID = map[string]*upfpb.Application{}
	for _, a := range u.applications {
		if have := byID[a.GetId()]; have != nil {
			have.Pfds = append(have.Pfds, a.GetPfds()...)
			continue
		}
		byID[a.GetId()] = proto.Clone(a).(*upfpb.Application)
	}
	return byID, u.generation, u.sentSets
}
