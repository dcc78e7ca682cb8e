// SPDX-License-Identifier: BSD-3-Clause

package config

import (
	"fmt"
	"time"

	"airpath/control/rules"
	"airpath/control/session"
)

// Charging records and where they go.
type Charging struct {
	session.Charging
	Directory   string
	RotateBytes int64
	RotateEvery time.Duration
	SyncEvery   time.Duration
}

// As it is written.
type applicationsFile struct {
	Files []string `yaml:"files"`
}

type chargingFile struct {
	Directory    string         `yaml:"directory"`
	RatingGroup  *int           `yaml:"rating_group"`
	Applications map[string]int `yaml:"applications"`
	Period       *int           `yaml:"period_s"`
	Volume       *int           `yaml:"volume_mb"`
	RotateSize   *int           `yaml:"rotate_mb"`
	RotateTime   *int           `yaml:"rotate_s"`
	Sync         *int           `yaml:"sync_ms"`
}

type predefinedFile struct {
	Name  string               `yaml:"name"`
	Rules []predefinedRuleFile `yaml:"rules"`
}

type predefinedRuleFile struct {
	Application string   `yaml:"application"`
	Filters     []string `yaml:"filters"`
	Direction   string   `yaml:"direction"`
	Action      string   `yaml:"action"`
	Redirect    string   `yaml:"redirect"`
	RatingGroup *int     `yaml:"rating_group"`
	QER         *struct {
		QFI     *int   `yaml:"qfi"`
		Gate    string `yaml:"gate"`
		MBRUp   *int   `yaml:"mbr_ul_kbps"`
		MBRDown *int   `yaml:"mbr_dl_kbps"`
		GBRUp   *int   `yaml:"gbr_ul_kbps"`
		GBRDown *int   `yaml:"gbr_dl_kbps"`
	} `yaml:"qer"`
}

const (
	ratingGroupMax = int(session.RatingGroupMax)
	kbpsMax        = 1_000_000_000
)

func (k *checker) applications(f *file, c *Config) {
	for i, path := range f.Applications.Files {
		if path == "" {
			k.fail(fmt.Sprintf("applications.files[%d]", i), "empty")
		}
	}
	if len(f.Applications.Files) > 1<<16-1 {
		k.fail("applications.files", "more than %d", 1<<16-1)
	}
	c.ApplicationFiles = f.Applications.Files
}

func (k *checker) charging(f *file, c *Config) {
	w := f.Charging
	if w == nil {
		return
	}
	o := &Charging{Directory: w.Directory,
		RotateBytes: int64(k.number("charging.rotate_mb", w.RotateSize, 1, 1<<20, 64)) << 20,
		RotateEvery: time.Duration(k.number("charging.rotate_s", w.RotateTime, 1, 86400*31, 3600)) * time.Second,
		SyncEvery:   time.Duration(k.number("charging.sync_ms", w.Sync, 0, 60000, 1000)) * time.Millisecond}
	o.RatingGroup = uint32(k.number("charging.rating_group", w.RatingGroup, 0, ratingGroupMax, 0))
	o.PeriodS = uint32(k.number("charging.period_s", w.Period, 0, 86400*31, 3600))
	o.Volume = uint64(k.number("charging.volume_mb", w.Volume, 0, 1<<30, 0)) << 20
	o.Applications = map[string]uint32{}
	for id, group := range w.Applications {
		o.Applications[id] = uint32(k.number("charging.applications."+id, &group, 0, ratingGroupMax, 0))
	}
	if o.Directory == "" {
		k.fail("charging.directory", "missing")
	}
	c.Charging = o
}

func (k *checker) predefined(f *file, c *Config) {
	total := 0
	for i, w := range f.Predefined {
		place := fmt.Sprintf("predefined[%d]", i)
		o := rules.Predefined{Name: w.Name}
		switch {
		case w.Name == "":
			k.fail(place+".name", "missing")
		case len(w.Rules) == 0:
			k.fail(place+".rules", "missing")
		}
		for j, other := range c.Predefined {
			if other.Name == w.Name {
				k.fail(place+".name", "%q is predefined[%d]'s, too; put the rules into one list", w.Name, j)
			}
		}
		for j := range w.Rules {
			o.Rules = append(o.Rules, k.predefinedRule(fmt.Sprintf("%s.rules[%d]", place, j), &w.Rules[j]))
		}
		total += len(w.Rules)
		c.Predefined = append(c.Predefined, o)
	}
	if total >= session.MaxPredefined {
		k.fail("predefined", "%d rules, at most %d", total, session.MaxPredefined-1)
	}
}

func (k *checker) predefinedRule(place string, w *predefinedRuleFile) rules.PredefinedRule {
	o := rules.PredefinedRule{Application: w.Application, Filters: w.Filters, RedirectURL: w.Redirect}
	switch w.Direction {
	case "", "both":
	case "uplink":
		o.Directions = rules.UplinkOnly
	case "downlink":
		o.Directions = rules.DownlinkOnly
	default:
		k.fail(place+".direction", "%q is not both, uplink or downlink", w.Direction)
	}
	switch w.Action {
	case "", "forward":
	case "drop":
		o.Drop = true
	default:
		k.fail(place+".action", "%q is neither forward nor drop", w.Action)
	}
	if w.RatingGroup != nil {
		group := uint32(k.number(place+".rating_group", w.RatingGroup, 0, ratingGroupMax, 0))
		o.RatingGroup = &group
	}
	o.QER = k.predefinedQER(place+".qer", w)
	if err := session.CheckPredefined(&o); err != nil {
		k.fail(place, "%v", err)
	}
	return o
}

func (k *checker) predefinedQER(place string, w *predefinedRuleFile) *rules.QER {
	if w.QER == nil {
		return nil
	}
	q := &rules.QER{Gate: &rules.Gate{}}
	switch w.QER.Gate {
	case "", "open":
	case "closed":
		q.Gate.ULClosed, q.Gate.DLClosed = true, true
	default:
		k.fail(place+".gate", "%q is neither open nor closed", w.QER.Gate)
	}
	if w.QER.QFI != nil {
		qfi := uint8(k.number(place+".qfi", w.QER.QFI, 1, 63, 0))
		q.QFI = &qfi
	}
	rate := func(name string, up, down *int) *rules.Bitrate {
		if up == nil && down == nil {
			return nil
		}
		if up == nil || down == nil {
			k.fail(place, "%s_ul_kbps and %s_dl_kbps belong together", name, name)
		}
		return &rules.Bitrate{UL: uint64(k.number(place+"."+name+"_ul_kbps", up, 0, kbpsMax, 0)),
			DL: uint64(k.number(place+"."+name+"_dl_kbps", down, 0, kbpsMax, 0))}
	}
	q.MBR = rate("mbr", w.QER.MBRUp, w.QER.MBRDown)
	q.GBR = rate("gbr", w.QER.GBRUp, w.QER.GBRDown)
	return q
}
