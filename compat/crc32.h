/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CRC-32 of long pieces. crc32_le() uses carry-less multiplication from 6.15
 * on; before that only the "crc32" hash of the crypto API does. Its state is
 * the bare CRC, so that pieces can be chained through the descriptor.
 */
#ifndef COMPAT_CRC32_H
#define COMPAT_CRC32_H

#include <linux/crc32.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)

#include <crypto/hash.h>

/* Below this many bytes the vector unit costs more than it saves. */
#define COMPAT_CRC32_MIN	256

struct compat_crc32 {
	struct crypto_shash *tfm;
};

static inline int compat_crc32_init(struct compat_crc32 *alg)
{
	struct crypto_shash *tfm = crypto_alloc_shash("crc32", 0, 0);

	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	alg->tfm = tfm;
	return 0;
}

static inline void compat_crc32_exit(struct compat_crc32 *alg)
{
	crypto_free_shash(alg->tfm);
}

static inline u32 compat_crc32_le(const struct compat_crc32 *alg, u32 crc,
				  const void *p, size_t len)
{
	SHASH_DESC_ON_STACK(desc, alg->tfm);

	if (len < COMPAT_CRC32_MIN)
		return crc32_le(crc, p, len);

	desc->tfm = alg->tfm;
	*(u32 *)shash_desc_ctx(desc) = crc;
	if (crypto_shash_update(desc, p, len))
		return crc32_le(crc, p, len);
	return *(u32 *)shash_desc_ctx(desc);
}

#else

struct compat_crc32 {
};

static inline int compat_crc32_init(struct compat_crc32 *alg)
{
	return 0;
}

static inline void compat_crc32_exit(struct compat_crc32 *alg)
{
}

static inline u32 compat_crc32_le(const struct compat_crc32 *alg, u32 crc,
				  const void *p, size_t len)
{
	return crc32_le(crc, p, len);
}

#endif
#endif
