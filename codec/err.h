/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_ERR_H
#define AIRPATH_CODEC_ERR_H

/**
 * What a decoder says of bad bytes. Parsers return a length ≥ 0 or one of these,
 * negated; a node maps each to a named drop.
 */
enum codec_err {
	CODEC_SHORT = 1,     /**< fewer bytes than the header or its length field needs */
	CODEC_RESERVED,      /**< a value the specification reserves */
	CODEC_CONTRADICTION, /**< fields that cannot be true together */
	CODEC_UNSUPPORTED,   /**< valid, but not handled here */
};

#endif
