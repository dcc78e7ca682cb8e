/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "codec/mac.h"

/* What the tables of §6.2.1 say of a codepoint beside a fixed size in bytes. */
#define VAR MAC_BYTES_IN_L
#define RSV (-CODEC_RESERVED)

/* Table 6.2.1-1 with the sizes of §6.1.3; 33 and 34 are resolved before the look-up. */
static const int8_t dl_bytes[64] = {
	[0 ... 32] = VAR,            /* CCCH, logical channels */
	[33 ... 46] = RSV, [47] = 2, /* recommended bit rate */
	[48] = 2,                    /* SP ZP CSI-RS resource set activation */
	[49] = 3,                    /* PUCCH spatial relation activation */
	[50] = VAR,                  /* SP SRS activation */
	[51] = 2,                    /* SP CSI reporting on PUCCH activation */
	[52] = 2,                    /* TCI state indication for UE-specific PDCCH */
	[53] = VAR,                  /* TCI states activation for UE-specific PDSCH */
	[54] = VAR,                  /* aperiodic CSI trigger state subselection */
	[55] = VAR,                  /* SP CSI-RS/CSI-IM resource set activation */
	[56] = 1,                    /* duplication activation */
	[57] = 4,                    /* SCell activation, four octets */
	[58] = 1,                    /* SCell activation, one octet */
	[59] = 0,                    /* long DRX command */
	[60] = 0,                    /* DRX command */
	[61] = 1,                    /* timing advance command */
	[62] = 6,                    /* UE contention resolution identity */
	[63] = 0,                    /* padding */
};

/* Table 6.2.1-2. */
static const int8_t ul_bytes[64] = {
	[0] = 8,                                        /* CCCH of 64 bits */
	[1 ... 32] = VAR,  [33 ... 34] = RSV, [35] = 6, /* CCCH of 48 bits, RedCap */
	[36] = 8,                                       /* CCCH of 64 bits, RedCap */
	[37 ... 42] = RSV, [43] = VAR,                  /* truncated enhanced BFR */
	[44] = 2,                                       /* timing advance report */
	[45 ... 46] = VAR,                              /* sidelink BSR */
	[47] = RSV,        [48] = 4,                    /* LBT failure, four octets */
	[49] = 1,                                       /* LBT failure, one octet */
	[50 ... 51] = VAR,                              /* BFR */
	[52] = 6,                                       /* CCCH of 48 bits */
	[53] = 2,                                       /* recommended bit rate query */
	[54] = VAR,                                     /* multiple entry PHR, four octets */
	[55] = 0,                                       /* configured grant confirmation */
	[56] = VAR,                                     /* multiple entry PHR, one octet */
	[57] = 2,                                       /* single entry PHR */
	[58] = 2,                                       /* C-RNTI */
	[59] = 1,                                       /* short truncated BSR */
	[60] = VAR,                                     /* long truncated BSR */
	[61] = 1,                                       /* short BSR */
	[62] = VAR,                                     /* long BSR */
	[63] = 0,                                       /* padding */
};

/* Tables 6.2.1-1b and 6.2.1-2b: the CEs whose size field we know; the rest cannot be stepped over.
 */
static int
elcid1_bytes(enum mac_sch sch, uint32_t elcid)
{
	if (sch == MAC_DL_SCH) {
		switch (elcid) {
		case 251: /* duplication RLC activation */
			return 1;
		case 252: /* absolute timing advance command */
		case 255: /* timing delta */
			return 2;
		case 245: /* serving cell set based SRS spatial relation */
		case 248: /* enhanced SP/AP SRS spatial relation */
		case 249: /* enhanced PUCCH spatial relation */
		case 250: /* enhanced TCI states */
		case 253: /* SP positioning SRS */
			return VAR;
		}
		return RSV;
	}
	switch (elcid) {
	case 252: /* multiple entry configured grant confirmation */
		return 4;
	case 250: /* BFR, four octets */
	case 251: /* truncated BFR, four octets */
	case 255: /* pre-emptive BSR */
		return VAR;
	}
	return RSV;
}

int
mac_fixed_bytes(enum mac_sch sch, uint32_t index)
{
	if (index >= MAC_ELCID2_BASE)
		return index - MAC_ELCID2_BASE <= UINT16_MAX ? VAR : RSV;
	if (index >= MAC_ELCID1_BASE)
		return elcid1_bytes(sch, index - MAC_ELCID1_BASE);
	return sch == MAC_DL_SCH ? dl_bytes[index] : ul_bytes[index];
}

static bool
is_ul_ccch(enum mac_sch sch, uint32_t index)
{
	return sch == MAC_UL_SCH && (index == MAC_UL_CCCH_48 || index == MAC_UL_CCCH_48_REDCAP ||
				     index == MAC_UL_CCCH_64_REDCAP);
}

static enum mac_kind
kind_of(enum mac_sch sch, uint32_t index)
{
	if (index <= MAC_LCID_MAX_SDU || index >= MAC_ELCID2_BASE || is_ul_ccch(sch, index))
		return MAC_KIND_SDU;
	return index == MAC_LCID_PADDING ? MAC_KIND_PADDING : MAC_KIND_CE;
}

int
mac_subheader_decode(const uint8_t *p, size_t n, enum mac_sch sch, struct mac_subheader *h)
{
	size_t at = 1;
	int fixed;

	if (n < 1)
		return -CODEC_SHORT;
	h->index = p[0] & 0x3f;
	if (h->index == MAC_LCID_ELCID1) {
		if (n < 2)
			return -CODEC_SHORT;
		h->index = MAC_ELCID1_BASE + p[1];
		at = 2;
	} else if (h->index == MAC_LCID_ELCID2) {
		if (n < 3)
			return -CODEC_SHORT;
		h->index = MAC_ELCID2_BASE + ((uint32_t)p[1] << 8 | p[2]);
		at = 3;
	}
	fixed = mac_fixed_bytes(sch, h->index);
	if (fixed == RSV)
		return -CODEC_RESERVED;
	h->kind = kind_of(sch, h->index);
	if (fixed != VAR) {
		h->bytes = (uint32_t)fixed;
		return (int)at;
	}
	if (p[0] & 0x40) {
		if (n < at + 2)
			return -CODEC_SHORT;
		h->bytes = (uint32_t)p[at] << 8 | p[at + 1];
		return (int)at + 2;
	}
	if (n < at + 1)
		return -CODEC_SHORT;
	h->bytes = p[at];
	return (int)at + 1;
}

int
mac_subheader_encode(uint8_t *p, size_t room, enum mac_sch sch, uint32_t index, uint32_t bytes)
{
	int fixed = mac_fixed_bytes(sch, index);
	size_t at = 1, need;

	if (fixed == RSV)
		return -CODEC_RESERVED;
	if (bytes > MAC_SDU_BYTES_MAX || (fixed != VAR && bytes != (uint32_t)fixed))
		return -CODEC_CONTRADICTION;
	if (index >= MAC_ELCID1_BASE)
		at = index >= MAC_ELCID2_BASE ? 3 : 2;
	need = at;
	if (fixed == VAR)
		need += bytes > 255 ? 2 : 1;
	if (room < need)
		return -CODEC_SHORT;
	if (at == 3) {
		p[0] = MAC_LCID_ELCID2;
		p[1] = (uint8_t)((index - MAC_ELCID2_BASE) >> 8);
		p[2] = (uint8_t)(index - MAC_ELCID2_BASE);
	} else if (at == 2) {
		p[0] = MAC_LCID_ELCID1;
		p[1] = (uint8_t)(index - MAC_ELCID1_BASE);
	} else {
		p[0] = (uint8_t)index;
	}
	if (need == at + 2) {
		p[0] |= 0x40;
		p[at] = (uint8_t)(bytes >> 8);
		p[at + 1] = (uint8_t)bytes;
	} else if (need == at + 1) {
		p[at] = (uint8_t)bytes;
	}
	return (int)need;
}

void
mac_padding_put(uint8_t *p, size_t n)
{
	if (n == 0)
		return;
	memset(p, 0, n);
	p[0] = MAC_PADDING_OCTET;
}
