/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "codec/fapi.h"
#include "codec/fapi_dci.h"
#include "codec/fapi_uci.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
one_tti(const uint8_t *data, size_t size, bool uplink)
{
	struct fapi_grant g[FAPI_TTI_PDUS_MAX], again[FAPI_TTI_PDUS_MAX];
	uint8_t p[FAPI_UL_TTI_LEN(FAPI_TTI_PDUS_MAX) +
		  FAPI_TTI_PDUS_MAX * (FAPI_PDCCH_LEN + FAPI_DCI_LEN_MAX)];
	unsigned nb = FAPI_TTI_PDUS_MAX, back = FAPI_TTI_PDUS_MAX;
	struct fapi_slot at;
	int ret = uplink ? fapi_ul_tti_decode(data, size, &at, g, &nb)
			 : fapi_dl_tti_decode(data, size, &at, g, &nb);

	if (ret < 0)
		return;
	if ((size_t)ret > size || nb > FAPI_TTI_PDUS_MAX)
		abort();
	ret = uplink ? fapi_ul_tti_encode(p, sizeof(p), at, g, nb)
		     : fapi_dl_tti_encode(p, sizeof(p), at, g, nb);
	if (ret < 0)
		abort();
	ret = uplink ? fapi_ul_tti_decode(p, (size_t)ret, &at, again, &back)
		     : fapi_dl_tti_decode(p, (size_t)ret, &at, again, &back);
	if (ret < 0 || back != nb)
		abort();
	for (unsigned i = 0; i < nb; i++)
		if (g[i].tb_bytes != again[i].tb_bytes || g[i].rnti != again[i].rnti ||
		    g[i].k1 != again[i].k1 || g[i].harq_process != again[i].harq_process ||
		    g[i].new_data != again[i].new_data)
			abort();
}

static void
one_crc_indication(const uint8_t *data, size_t size)
{
	struct fapi_crc c[FAPI_CRCS_MAX], again[FAPI_CRCS_MAX];
	uint8_t p[FAPI_CRC_INDICATION_LEN(FAPI_CRCS_MAX)];
	unsigned nb = FAPI_CRCS_MAX, back = FAPI_CRCS_MAX;
	struct fapi_slot at;
	int ret = fapi_crc_indication_decode(data, size, &at, c, &nb);

	if (ret < 0)
		return;
	if ((size_t)ret > size || nb > FAPI_CRCS_MAX)
		abort();
	ret = fapi_crc_indication_encode(p, sizeof(p), at, c, nb);
	if (ret < 0 || fapi_crc_indication_decode(p, (size_t)ret, &at, again, &back) != ret ||
	    back != nb)
		abort();
	for (unsigned i = 0; i < nb; i++)
		if (c[i].handle != again[i].handle || c[i].rnti != again[i].rnti ||
		    c[i].harq_id != again[i].harq_id || c[i].failed != again[i].failed ||
		    c[i].ul_cqi != again[i].ul_cqi || c[i].rssi != again[i].rssi)
			abort();
}

static void
one_uci_indication(const uint8_t *data, size_t size)
{
	struct fapi_cqi c[FAPI_UCIS_MAX], again[FAPI_UCIS_MAX];
	uint8_t p[FAPI_UCI_INDICATION_LEN(FAPI_UCIS_MAX)];
	unsigned nb = FAPI_UCIS_MAX, back = FAPI_UCIS_MAX;
	struct fapi_slot at;
	int ret = fapi_uci_indication_decode(data, size, &at, c, &nb);

	if (ret < 0)
		return;
	if ((size_t)ret > size || nb > FAPI_UCIS_MAX)
		abort();
	ret = fapi_uci_indication_encode(p, sizeof(p), at, c, nb);
	if (ret < 0 || fapi_uci_indication_decode(p, (size_t)ret, &at, again, &back) != ret ||
	    back != nb)
		abort();
	for (unsigned i = 0; i < nb; i++)
		if (c[i].handle != again[i].handle || c[i].rnti != again[i].rnti ||
		    c[i].cqi != again[i].cqi)
			abort();
}

static void
one_uci_harq(const uint8_t *data, size_t size)
{
	struct fapi_harq h[FAPI_UCIS_MAX], again[FAPI_UCIS_MAX];
	uint8_t p[FAPI_UCI_HARQ_INDICATION_LEN(FAPI_UCIS_MAX)];
	unsigned nb = FAPI_UCIS_MAX, back = FAPI_UCIS_MAX;
	struct fapi_slot at;
	int ret = fapi_uci_harq_decode(data, size, &at, h, &nb);

	if (ret < 0)
		return;
	if ((size_t)ret > size || nb > FAPI_UCIS_MAX)
		abort();
	ret = fapi_uci_harq_encode(p, sizeof(p), at, h, nb);
	if (ret < 0 || fapi_uci_harq_decode(p, (size_t)ret, &at, again, &back) != ret || back != nb)
		abort();
	for (unsigned i = 0; i < nb; i++)
		if (h[i].handle != again[i].handle || h[i].rnti != again[i].rnti ||
		    h[i].value != again[i].value)
			abort();
}

/** Every body decoder; what decodes encodes to the same again. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t p[FAPI_DATA_PDU_LEN];
	struct fapi_tx_pdu t;
	struct fapi_rx_pdu r;
	struct fapi_error e;
	struct fapi_sr s;
	struct fapi_data d;

	one_tti(data, size, true);
	one_tti(data, size, false);
	one_crc_indication(data, size);
	one_uci_indication(data, size);
	one_uci_harq(data, size);
	if (fapi_error_decode(data, size, &e) > 0) {
		fapi_error_put(p, &e);
		if (memcmp(p, data, FAPI_ERROR_INDICATION_LEN) != 0)
			abort();
	}
	if (fapi_sr_decode(data, size, &s) > 0) {
		fapi_sr_put(p, &s);
		if (memcmp(p, data, FAPI_SR_REQUEST_LEN) != 0)
			abort();
	}
	if (fapi_data_decode(data, size, &d) > 0) {
		fapi_data_put(p, &d);
		if (memcmp(p, data, FAPI_DATA_LEN) != 0)
			abort();
	}
	if (fapi_tx_pdu_decode(data, size, &t) > 0) {
		fapi_tx_pdu_put(p, &t);
		if (memcmp(p, data, FAPI_DATA_PDU_LEN) != 0)
			abort();
	}
	if (fapi_rx_pdu_decode(data, size, &r) > 0) {
		fapi_rx_pdu_put(p, &r);
		if (memcmp(p, data, FAPI_DATA_PDU_LEN) != 0)
			abort();
	}
	return 0;
}
