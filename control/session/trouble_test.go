// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"airpath/control/rules"
	"airpath/control/store"
)

// TestStoreInTrouble: what is not stored, nor ever will be, is not answered: the CP function asks the
// next agent again.
func TestStoreInTrouble(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	_ = r.store.Flush()
	if err := os.Truncate(filepath.Join(r.dir, "s.db"), 2*4096); err != nil {
		t.Fatal(err)
	}
	done := func(a *rules.Answer, _ []byte) { t.Error("answered", a.Cause) }
	for what, ask := range map[string]func(){
		"establishment": func() { r.m.Establish(tx(1), plain(8, "10.45.0.4"), done) },
		"modification":  func() { r.m.Modify(tx(2), seid, toGNB(2, "10.3.0.2"), done) },
		"association":   func() { r.m.KeepAssociation(smf, []byte("up"), func() { t.Error("association is kept") }) },
	} {
		before := r.m.Statistics().StoreFailures
		ask()
		r.until(what+" is not stored", func() bool { return r.m.Statistics().StoreFailures > before })
	}
	r.m.Delete(tx(3), seid, done)
	r.until("the deletion is not stored", func() bool { return r.m.Statistics().StoreFailures == 4 })
	if err := r.store.Flush(); !errors.Is(err, store.ErrTrouble) { // and all before has been called
		t.Error(err)
	}
	<-r.store.Trouble()
	r.m.Close()
	_ = r.store.Close()
	r.dir = t.TempDir() // it is moved away
	r.start()
	if a := r.delete(seid); a.Cause != rules.CauseSessionContextNotFound {
		t.Error(a.Cause)
	}
	r.until("the unit has none of them", func() bool { return len(r.unit.IDs()) == 0 })
}
