// SPDX-License-Identifier: BSD-3-Clause
package rules

// LocalRule is the bit of FAR, QER and URR IDs that says the rule is the UP function's own, §8.2.54,
// §8.2.74, §8.2.75: predefined, or made for charging records.
const LocalRule uint32 = 1 << 31

// Predefined rules have a name that CP functions activate and deactivate them by, §5.19. What is
// of the session (tunnel, UE address, QFI, precedence) comes from the PDR that activates them.
type Predefined struct {
	Name  string
	Rules []PredefinedRule // the first that matches counts
}

// PredefinedRule is one of them.
type PredefinedRule struct {
	Application string     // Application ID; "": any
	Filters     []string   // flow descriptions, any of them; none: everything
	Drop        bool       // instead of what the PDR's FAR does
	RedirectURL string     // HTTP requests are answered with it; "": they are not
	QER         *QER       // beside those of the PDR; its ID is not used
	RatingGroup *uint32    // of charging records; nil: as for dynamic rules
	Directions  Directions // of the PDRs it applies to
}

// Directions of traffic, by the PDR's source interface.
type Directions uint8

// Where a predefined rule applies.
const (
	BothDirections Directions = iota
	UplinkOnly
	DownlinkOnly
)
