// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

func domains(id string, names ...string) rules.ApplicationPFDs {
	a := rules.ApplicationPFDs{ID: id}
	for _, n := range names {
		a.Contents = append(a.Contents, rules.PFDContents{Domains: []rules.PFDDomain{{Name: n}}})
	}
	return a
}

func (r *rig) pfds(list ...rules.ApplicationPFDs) rules.PFDAnswer {
	r.t.Helper()
	done := make(chan rules.PFDAnswer, 1)
	r.m.ManagePFDs(&rules.PFDRequest{Applications: list}, func(a rules.PFDAnswer) { done <- a })
	return <-done
}

func (r *rig) tookPFDs(list ...rules.ApplicationPFDs) {
	r.t.Helper()
	if a := r.pfds(list...); a.Cause != rules.CauseAccepted {
		r.t.Fatalf("%+v", a)
	}
}

// texts of the applications that the unit has in force.
func (r *rig) inForce() map[string]string {
	byID, _, _ := r.unit.Applications()
	out := map[string]string{}
	for id, a := range byID {
		var texts []string
		for _, p := range a.GetPfds() {
			if p.GetFlow() != nil {
				texts = append(texts, "flow")
			} else {
				texts = append(texts, p.GetText())
			}
		}
		out[id] = strings.Join(texts, " ")
	}
	return out
}

func (r *rig) same(want map[string]string) {
	r.t.Helper()
	got := r.inForce()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("in force %v, not %v", got, want)
	}
}

// §6.2.5, §7.4.3.1: what is named is replaced, what comes without descriptions goes, a request
// that names nothing deletes all. Every answer comes when it is in force.
func TestPFDManagement(t *testing.T) {
	r := newRig(t)
	if _, _, sets := r.unit.Applications(); sets != 0 {
		t.Error("a set was sent though there is no application")
	}
	r.tookPFDs(domains("video", "a.example", "*.b.example"), rules.ApplicationPFDs{ID: "dns",
		Contents: []rules.PFDContents{{Flows: []string{"permit out 17 from 9.9.9.9 53 to assigned"}}}})
	r.same(map[string]string{"video": "a.example b.example", "dns": "flow"})
	byID, _, _ := r.unit.Applications()
	want := &upfpb.Pfd{Kind: upfpb.Pfd_FLOW, Flow: &upfpb.Filter{Protocol: 17, Source: &upfpb.Prefix{Address: []byte{9, 9, 9, 9}, Bits: 32},
		SourcePorts: []*upfpb.PortRange{{First: 53, Last: 53}}}}
	if got := byID["dns"].GetPfds()[0]; !proto.Equal(got, want) {
		t.Error(got)
	}
	if byID["video"].GetPfds()[1].GetKind() != upfpb.Pfd_SUFFIX {
		t.Error(byID["video"])
	}
	index := byID["video"].GetIndex()
	r.tookPFDs(domains("video", "c.example"), domains("news", "d.example"))
	r.same(map[string]string{"video": "c.example", "dns": "flow", "news": "d.example"})
	_, generation, sets := r.unit.Applications()
	r.tookPFDs(domains("news", "d.example")) // nothing new
	if _, g, n := r.unit.Applications(); g != generation || n != sets {
		t.Error("the same was sent again")
	}
	r.tookPFDs(domains("video"))
	r.same(map[string]string{"dns": "flow", "news": "d.example"})
	r.tookPFDs()
	r.same(map[string]string{})
	r.tookPFDs(domains("video", "e.example"))
	if byID, _, _ = r.unit.Applications(); byID["video"].GetIndex() != index {
		t.Error("another index", byID)
	}
	for _, bad := range []rules.ApplicationPFDs{domains("x", "a/b"), {ID: "x", Contents: []rules.PFDContents{{Custom: true}}}} {
		if a := r.pfds(domains("y", "y.example"), bad); a.Cause == rules.CauseAccepted || a.OffendingIE != rules.IEPFDContents || a.Reason == "" {
			t.Errorf("%+v", a)
		}
	}
	r.same(map[string]string{"video": "e.example"})
}

// A unit that cannot build the set: nothing changed, anywhere, and the answer says why.
func TestRefusedPFDs(t *testing.T) {
	r := newRig(t)
	r.tookPFDs(domains("video", "a.example"))
	r.unit.RefusePFD("(a+)+b")
	a := r.pfds(domains("video", "b.example"), domains("web", "(a+)+b"))
	if a.Cause != rules.CauseRejected || a.OffendingIE != rules.IEPFDContents ||
		a.Reason != `application web, PFD "(a+)+b": "(a+)+b" costs too much` {
		t.Errorf("%+v", a)
	}
	r.same(map[string]string{"video": "a.example"})
	q := plain(7, "10.45.0.3")
	q.PDRs[0].PDI.ApplicationID = ptr("web")
	holds(t, "of a refused request", r.establish(q), want{cause: 81, ie: rules.IEApplicationID, kind: rules.KindPDR, id: 1})
	if c := r.m.Statistics(); c.ApplicationsRefused != 1 || c.ApplicationsChanged != 1 {
		t.Errorf("%+v", c)
	}
	r.stop()
	r.start()
	r.same(map[string]string{"video": "a.example"})
	r.tookPFDs(domains("video", "c.example"))
	r.same(map[string]string{"video": "c.example"})
}

// A number that a set was sent with is not another set's, of the next agent either.
func TestSetsHaveNumbersOfTheirOwn(t *testing.T) {
	r := newRig(t)
	r.tookPFDs(domains("video", "a.example"))
	_, before, _ := r.unit.Applications()
	r.unit.RefusePFD("bad.example")
	if a := r.pfds(domains("video", "bad.example")); a.Cause == rules.CauseAccepted {
		t.Error(a)
	}
	r.stop()
	r.start()
	r.tookPFDs(domains("video", "b.example"))
	if _, g, _ := r.unit.Applications(); g != before+2 {
		t.Errorf("%d, %d was in force, and %d sent", g, before, before+1)
	}
}

// The agent is killed when a unit has the first set in force, and nothing is stored but its number:
// the next agent gives the unit what it has itself, and changes that.
func TestKilledDuringTheFirstSet(t *testing.T) {
	r := newRig(t)
	r.killedDuringASet(domains("video", "a.example"))
	r.until("the set is no more", func() bool { return len(r.inForce()) == 0 })
	r.tookPFDs(domains("video", "b.example"))
	r.same(map[string]string{"video": "b.example"})
}

func (r *rig) killedDuringASet(list ...rules.ApplicationPFDs) {
	r.t.Helper()
	_, before, _ := r.unit.Applications()
	r.unit.Silent(true)
	r.m.ManagePFDs(&rules.PFDRequest{Applications: list}, func(rules.PFDAnswer) {})
	r.until("it is in force", func() bool { _, g, _ := r.unit.Applications(); return g != before })
	r.unit.Silent(false)
	r.stop()
	r.start()
}

// The set there was before the first one has a number, too, and the next agent does not give it again.
func TestNumberOfTheSetBeforeTheFirst(t *testing.T) {
	r := newRig(t)
	r.unit.RefusePFD("bad.example")
	if a := r.pfds(domains("video", "bad.example")); a.Cause != rules.CauseRejected {
		t.Errorf("%+v", a)
	}
	if err := r.store.Flush(); err != nil {
		t.Fatal(err)
	}
	if stored := readUint64(r.store.Meta(metaIssued)); stored == 0 || stored != uint64(r.m.apps.generation) {
		t.Errorf("%d is stored, %d is in force", stored, r.m.apps.generation)
	}
}

// It is not the request's fault.
func TestPFDsWithoutStore(t *testing.T) {
	r := newRig(t)
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	if a := r.pfds(domains("video", "a.example")); a.Cause != rules.CauseSystemFailure || a.OffendingIE != 0 || a.Reason == "" {
		t.Errorf("%+v", a)
	}
	if len(r.inForce()) != 0 {
		t.Error("in force and not stored")
	}
}

// Requests that come while a set is built are built together; a bad one among them fails alone.
func TestManyPFDRequests(t *testing.T) {
	r := newRig(t)
	r.unit.RefusePFD("bad.example")
	var wait sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for i := range 40 {
		wait.Add(1)
		name := fmt.Sprintf("n%d.example", i)
		if i == 20 {
			name = "bad.example"
		}
		r.m.ManagePFDs(&rules.PFDRequest{Applications: []rules.ApplicationPFDs{domains(fmt.Sprint("app", i), name)}}, func(a rules.PFDAnswer) {
			mu.Lock()
			defer mu.Unlock()
			if a.Cause != rules.CauseAccepted {
				refused++
			}
			wait.Done()
		})
	}
	wait.Wait()
	got := r.inForce()
	if refused != 1 || len(got) != 39 || got["app39"] != "n39.example" || got["app20"] != "" {
		t.Error(refused, got)
	}
}

// Restarts: of the agent, which leaves the unit alone; of the unit, which gets all of it again; of
// the unit without the agent, which sends when it is back.
func TestApplicationsOutlive(t *testing.T) {
	r := newRig(t)
	r.tookPFDs(domains("video", "a.example"), domains("news", "b.example"))
	q := plain(7, "10.45.0.3")
	q.PDRs[0].PDI.ApplicationID = ptr("news")
	seid := r.accepted(r.establish(q)).UPSEID
	index := r.unit.Session(seid).GetPdrs()[0].GetApplication()
	_, generation, sets := r.unit.Applications()
	r.stop()
	r.start()
	if _, g, n := r.unit.Applications(); g != generation || n != sets {
		t.Error("the unit had the set, and got it again")
	}
	r.unit.Stop()
	if err := r.unit.Start(); err != nil {
		t.Fatal(err)
	}
	r.until("the set is there again", func() bool { _, g, _ := r.unit.Applications(); return g == generation })
	r.same(map[string]string{"video": "a.example", "news": "b.example"})
	r.until("the session is, too", func() bool { return r.unit.Session(seid) != nil })
	byID, _, _ := r.unit.Applications()
	if got := r.unit.Session(seid).GetPdrs()[0].GetApplication(); got != index || byID["news"].GetIndex() != index || index == 0 {
		t.Error(got, index, byID)
	}
	r.unit.Stop()
	r.until("it is away", func() bool { return !r.m.Units()[0].Connected })
	r.tookPFDs(domains("news", "c.example")) // nobody is there to refuse
	if err := r.unit.Start(); err != nil {
		t.Fatal(err)
	}
	r.until("it has what came meanwhile", func() bool { return r.inForce()["news"] == "c.example" })
}

// §5.11: an Application ID of a PDI. One whose descriptions go leaves its PDRs, which match nothing.
func TestApplicationsInPDRs(t *testing.T) {
	r := newRig(t)
	r.tookPFDs(domains("video", "a.example"))
	q := plain(7, "10.45.0.3")
	q.PDRs[0].PDI.ApplicationID, q.PDRs[1].PDI.ApplicationID = ptr("video"), ptr("video")
	seid := r.accepted(r.establish(q)).UPSEID
	byID, _, _ := r.unit.Applications()
	for _, p := range r.unit.Session(seid).GetPdrs() {
		if p.GetApplication() != byID["video"].GetIndex() || p.GetApplication() == 0 {
			t.Error(p)
		}
	}
	r.tookPFDs()
	r.accepted(r.modify(seid, toGNB(2, "10.3.0.2")))
	r.accepted(r.modify(seid, &rules.ModifyRequest{UpdatePDRs: []rules.PDR{{ID: 1, Precedence: ptr(uint32(9))}}}))
	if p := r.unit.Session(seid).GetPdrs()[0]; p.GetApplication() != byID["video"].GetIndex() {
		t.Error(p)
	}
	other := *q.PDRs[0].PDI
	other.ApplicationID, other.UEIPs = ptr("audio"), nil
	holds(t, "unknown in an update", r.modify(seid, &rules.ModifyRequest{UpdatePDRs: []rules.PDR{{ID: 1, PDI: &other}}}),
		want{cause: 81, ie: rules.IEApplicationID, kind: rules.KindPDR, id: 1})
	if d, ok := r.m.Show(seid); !ok || *d.PDRRules[0].PDI.ApplicationID != "video" {
		t.Error(d)
	}
}

// Files: read at the start and again; wrong ones leave what is in force; PFD management goes before.
func TestApplicationFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "apps.rules")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("video host a.example\nnews host b.example\n")
	r := newRig(t, func(c *Config) { c.ApplicationFiles = []string{path} })
	r.until("the files' are in force", func() bool { return len(r.inForce()) == 2 })
	r.tookPFDs(domains("video", "pfd.example"))
	r.same(map[string]string{"video": "pfd.example", "news": "b.example"})
	write("video host a2.example\nweb url /x\n")
	if err := r.m.LoadApplications(); err != nil {
		t.Fatal(err)
	}
	r.same(map[string]string{"video": "pfd.example", "web": "/x"})
	write("video host a2.example\nweb cinema x\n")
	if err := r.m.LoadApplications(); err == nil || !strings.Contains(err.Error(), path+":2: kind") {
		t.Error(err)
	}
	r.unit.RefusePFD(".*x")
	write("# none\nvideo host a2.example\nweb url-regex .*x\n")
	if err := r.m.LoadApplications(); err == nil || err.Error() != path+`:3: application web: ".*x" costs too much` {
		t.Error(err)
	}
	r.same(map[string]string{"video": "pfd.example", "web": "/x"})
	r.tookPFDs()
	r.same(map[string]string{"video": "a2.example", "web": "/x"})
	set := r.m.Applications()
	if len(set.Applications) != 2 || set.Applications[0].ID != "video" || set.Applications[0].Managed || len(set.Units) != 1 ||
		set.Units[0].Generation != set.Generation {
		t.Errorf("%+v", set)
	}
	r.stop()
	write("broken\n")
	if err := r.open(); err == nil || !strings.Contains(err.Error(), ":1: has to be") {
		t.Error(err)
		r.m.Close()
	}
	r.store.Close()
	write("video host a3.example\n")
	r.start()
	r.until("the new file is in force", func() bool { return r.inForce()["video"] == "a3.example" })
}

// Sets are larger than a message, and so can be one application.
func TestLargeSets(t *testing.T) {
	r := newRig(t)
	var names []string
	for i := range 20000 {
		names = append(names, fmt.Sprintf("host-%d.of-a-long-domain-name.example", i))
	}
	r.tookPFDs(domains("large", names...), domains("small", "a.example"))
	for i := range 3000 {
		names[i] = fmt.Sprintf("n%d.example", i)
	}
	list := make([]rules.ApplicationPFDs, 3000)
	for i := range list {
		list[i] = domains(fmt.Sprint("app", i), names[i])
	}
	r.tookPFDs(list...)
	byID, _, _ := r.unit.Applications()
	if len(byID) != 3002 || len(byID["large"].GetPfds()) != 20000 || byID["large"].GetPfds()[19999].GetText() != names[19999] {
		t.Error(len(byID), len(byID["large"].GetPfds()))
	}
	r.unit.RefusePFD("last.example")
	a := r.pfds(domains("large", append(names[:19000:19000], "last.example")...))
	if a.Cause != rules.CauseRejected || !strings.Contains(a.Reason, `application large, PFD "last.example"`) {
		t.Errorf("%+v", a)
	}
}
