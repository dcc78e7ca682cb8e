// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"time"

	"github.com/wmnsk/go-pfcp/ie"
)

// Control is what a session message says of load and overload; nil: nothing.
type Control struct {
	Load     *LoadControl
	Overload *OverloadControl
}

// LoadControl is Load Control Information, §7.5.3.3.
type LoadControl struct {
	Sequence uint32
	Metric   uint8 // percent
}

// OverloadControl is Overload Control Information, §7.5.3.4, of the UP function as a whole.
type OverloadControl struct {
	Sequence  uint32
	Reduction uint8         // percent of requests not to be sent; 0: no overload any more
	Validity  time.Duration // up to 310 h; 0: stopped
}

// associateWithNode is AOCI of OCI Flags, §8.2.76: what is told is of the Node ID, not of one of
// its addresses.
const associateWithNode = 1

func (c Control) ies() []*ie.IE {
	var ies []*ie.IE
	if l := c.Load; l != nil {
		ies = append(ies, grouped(ie.LoadControlInformation,
			[]*ie.IE{ie.NewSequenceNumber(l.Sequence), ie.NewMetric(l.Metric)}))
	}
	if o := c.Overload; o != nil {
		ies = append(ies, grouped(ie.OverloadControlInformation, []*ie.IE{ie.NewSequenceNumber(o.Sequence),
			ie.NewMetric(o.Reduction), ie.New(ie.Timer, []byte{timer(o.Validity)}), ie.NewOCIFlags(associateWithNode)}))
	}
	return ies
}

// timer codes a time as §8.2.35 does: a unit in the upper three bits and up to 31 of them, rounded
// up.
func timer(d time.Duration) byte {
	units := []time.Duration{2 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 10 * time.Hour}
	for i, unit := range units {
		if n := (d + unit - 1) / unit; n <= 31 {
			return byte(i)<<5 | byte(n)
		}
	}
	return byte(len(units)-1)<<5 | 31
}
