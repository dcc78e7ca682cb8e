// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"sync"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"
)

// CP Function Features, §8.2.58, octet 5: which CP functions are told.
const (
	featureLOAD = 1
	featureOVRL = 2
)

// overloadMargin is how many points below its threshold overload ends (half of a threshold below
// 10, which is to be reached), and by how many the
// reduction asked for has to differ to be told anew.
const overloadMargin = 5

// loadControl is what there is to be told of load, §6.2.3, and overload, §6.2.4. Each is told to a
// CP function once, in the next answer or report to it.
type loadControl struct {
	mu       sync.Mutex
	percent  int
	load     pfcp.LoadControl     // Sequence 0: nothing is known
	overload pfcp.OverloadControl // Sequence 0: there was none
	made     time.Time            // when the latter was
}

// next is a Sequence Number above the one before, from an agent that started anew, too: "may use
// the time", §6.2.3.3.2.1.
func next(before uint32, now time.Time) uint32 { return max(before+1, uint32(now.Unix())) }

func differ(a, b, by int) bool { return a-b >= by || b-a >= by }

// update takes the load as it is now.
func (l *loadControl) update(c *Config, percent int, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.percent = percent
	was := int(l.load.Metric)
	extreme := (percent == 0 || percent == 100) && percent != was
	if c.LoadStep > 0 && (l.load.Sequence == 0 || differ(percent, was, c.LoadStep) || extreme) {
		l.load = pfcp.LoadControl{Sequence: next(l.load.Sequence, now), Metric: uint8(percent)}
	}
	want, had := c.reduction(percent, l.overload.Reduction > 0), int(l.overload.Reduction)
	expires := had > 0 && now.Sub(l.made) >= c.OverloadValidity/2 // CP functions forget what is not renewed
	if want == 0 && had == 0 || want > 0 && had > 0 && !expires && !differ(want, had, overloadMargin) {
		return
	}
	l.overload = pfcp.OverloadControl{Sequence: next(l.overload.Sequence, now), Reduction: uint8(want)}
	if want > 0 {
		l.overload.Validity = c.OverloadValidity
	}
	l.made = now
}

// reduction is how many percent fewer requests a load asks for; 0: there is no overload.
func (c *Config) reduction(percent int, over bool) int {
	begins := c.OverloadThreshold
	if over {
		begins -= min(overloadMargin, begins/2)
	}
	if c.OverloadThreshold == 0 || percent < begins {
		return 0
	}
	return max(1, c.OverloadReduction*(percent-c.OverloadThreshold)/(100-c.OverloadThreshold))
}

// tell gives what an association is to be told and has not been.
func (l *loadControl) tell(a *association) (c pfcp.Control) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.features&featureLOAD != 0 && a.toldLoad != l.load.Sequence {
		load := l.load
		a.toldLoad, c.Load = load.Sequence, &load
	}
	if a.features&featureOVRL != 0 && a.toldOverload != l.overload.Sequence {
		overload := l.overload
		if overload.Reduction > 0 || a.toldOverload != 0 { // the end only to who knows of the beginning
			c.Overload = &overload
		}
		a.toldOverload = overload.Sequence
	}
	return c
}

// Load of the forwarding units, percent.
func (s *Server) Load(percent uint8) {
	before := s.reduction()
	s.load.update(&s.cfg, int(percent), time.Now())
	after := s.reduction()
	switch {
	case before == 0 && after > 0:
		s.log.Warn("overload", "load_percent", percent, "reduction_percent", after)
	case before > 0 && after == 0:
		s.log.Info("overload is over", "load_percent", percent)
	}
}

func (s *Server) reduction() uint8 {
	s.load.mu.Lock()
	defer s.load.mu.Unlock()
	return s.load.overload.Reduction
}

// control is what a message to a CP function says of load and overload.
func (s *Server) control(node rules.NodeID) pfcp.Control {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if a := s.associations[node]; a != nil {
		return s.load.tell(a)
	}
	return pfcp.Control{}
}
