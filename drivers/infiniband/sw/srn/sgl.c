// SPDX-License-Identifier: GPL-2.0-only
/* Walking scatter lists and moving bytes. A range is proven first, element by
 * element, and holds its references until the last byte has moved.
 */
#include "sgl.h"
#include "copy.h"
#include "device.h"

#include <kunit/visibility.h>
#include <linux/net.h>
#include <linux/overflow.h>

/* The part of a range that lies in one element. */
struct piece {
	struct srn_mem *mem;
	u64 addr;
	u32 len;
};

/* A range, proven and referenced. On the stack, as nothing may be allocated here; what is beyond num
 * is never read, so that who declares one need not have the compiler clear all of it first.
 */
struct held {
	unsigned int num;
	struct piece pieces[SRN_MAX_SGE];
};

static void held_put(struct held *r)
{
	while (r->num)
		srn_mem_put(r->pieces[--r->num].mem);
}

/* Proves @len bytes from @skip of an element. On SRN_OK the caller puts @p->mem. */
static enum srn_verdict piece_get(struct piece *p, const struct srn_sgl *sgl,
				  const struct ib_sge *sge, u64 skip, u32 len, int access)
{
	struct ib_sge part = { .length = len, .lkey = sge->lkey };
	enum srn_verdict v;

	if (check_add_overflow(sge->addr, skip, &part.addr))
		return SRN_V_LOC_PROT;
	v = srn_mem_get_local(sgl->who, &part, access, &p->mem);
	if (v)
		return v;
	p->addr = part.addr;
	p->len = len;
	return SRN_OK;
}

/* Proves @len bytes from @offset of the list. On SRN_OK the caller puts @r. */
static enum srn_verdict held_get(struct held *r, const struct srn_sgl *sgl, u64 offset,
				 u32 len, int access)
{
	const struct ib_sge *sge = sgl->sge, *end = sge + sgl->num;
	enum srn_verdict v;

	r->num = 0;
	for (; len && sge < end; sge++) {
		u32 here;

		if (offset >= sge->length) {	/* also elements of no bytes */
			offset -= sge->length;
			continue;
		}
		here = min_t(u64, len, sge->length - offset);
		v = piece_get(&r->pieces[r->num], sgl, sge, offset, here, access);
		if (unlikely(v))
			goto fail;
		r->num++;
		offset = 0;
		len -= here;
	}
	if (likely(!len))
		return SRN_OK;
	v = SRN_V_LOC_LEN;
fail:
	held_put(r);
	return v;
}

void srn_mem_read(const struct srn_mem *mem, u64 addr, void *to, u32 len)
{
	while (len) {
		u64 here;
		const void *from = srn_mem_span(mem, addr, &here);

		here = min_t(u64, here, len);
		srn_copy(to, from, here);
		to += here;
		addr += here;
		len -= here;
	}
}

void srn_mem_write(const struct srn_mem *mem, u64 addr, const void *from, u32 len)
{
	while (len) {
		u64 here;
		void *to = srn_mem_span(mem, addr, &here);

		here = min_t(u64, here, len);
		srn_copy(to, from, here);
		from += here;
		addr += here;
		len -= here;
	}
}

void srn_mem_write_skb(const struct srn_mem *mem, u64 addr, struct sk_buff *skb,
		       unsigned int from, u32 len)
{
	while (len) {
		u64 here;
		void *to = srn_mem_span(mem, addr, &here);

		here = min_t(u64, here, len);
		/* The packet's length was proven by the parser. */
		WARN_ON_ONCE(srn_copy_skb(skb, from, to, here));
		from += here;
		addr += here;
		len -= here;
	}
}

/* Whether one element has all of it, and the first: so it mostly is. */
static bool is_in_first(const struct srn_sgl *sgl, u64 offset, u32 len)
{
	return sgl->num && len && offset < sgl->sge->length && len <= sgl->sge->length - offset;
}

static noinline enum srn_verdict read_pieces(const struct srn_sgl *sgl, u64 offset, void *to,
					     u32 len)
{
	enum srn_verdict v;
	struct held r __uninitialized;
	unsigned int i;

	v = held_get(&r, sgl, offset, len, 0);
	if (v)
		return v;
	for (i = 0; i < r.num; i++) {
		srn_mem_read(r.pieces[i].mem, r.pieces[i].addr, to, r.pieces[i].len);
		to += r.pieces[i].len;
	}
	held_put(&r);
	return SRN_OK;
}

enum srn_verdict srn_sgl_read(const struct srn_sgl *sgl, u64 offset, void *to, u32 len)
{
	enum srn_verdict v;
	struct piece p;

	if (unlikely(!is_in_first(sgl, offset, len)))
		return read_pieces(sgl, offset, to, len);
	v = piece_get(&p, sgl, sgl->sge, offset, len, 0);
	if (v)
		return v;
	srn_mem_read(p.mem, p.addr, to, len);
	srn_mem_put(p.mem);
	return SRN_OK;
}
EXPORT_SYMBOL_IF_KUNIT(srn_sgl_read);

enum srn_verdict srn_sgl_read_held(const struct srn_sgl *sgl, void *to, u32 len,
				   struct srn_mem **held)
{
	struct ib_sge part;
	enum srn_verdict v;

	if (unlikely(!is_in_first(sgl, 0, len)))
		return read_pieces(sgl, 0, to, len);
	part = (struct ib_sge){ .addr = sgl->sge->addr, .length = len, .lkey = sgl->sge->lkey };
	v = srn_mem_hold_local(sgl->who, &part, 0, held);
	if (v)
		return v;
	srn_mem_read(*held, part.addr, to, len);
	return SRN_OK;
}

enum srn_verdict srn_sgl_write(const struct srn_sgl *sgl, u64 offset, const void *from, u32 len)
{
	enum srn_verdict v;
	struct held r __uninitialized;
	unsigned int i;

	v = held_get(&r, sgl, offset, len, IB_ACCESS_LOCAL_WRITE);
	if (v)
		return v;
	for (i = 0; i < r.num; i++) {
		srn_mem_write(r.pieces[i].mem, r.pieces[i].addr, from, r.pieces[i].len);
		from += r.pieces[i].len;
	}
	held_put(&r);
	return SRN_OK;
}
EXPORT_SYMBOL_IF_KUNIT(srn_sgl_write);

static bool overlap(const void *a, const void *b, size_t len)
{
	return a < b + len && b < a + len;
}

static void copy_mem(const struct srn_mem *to, u64 at, const struct srn_mem *from, u64 addr, u32 len)
{
	u64 there, here;
	const void *src;
	void *dst;

	for (; len; at += here, addr += here, len -= here) {
		src = srn_mem_span(from, addr, &here);
		dst = srn_mem_span(to, at, &there);
		here = min3(here, there, (u64)len);
		if (unlikely(overlap(dst, src, here)))
			memmove(dst, src, here);
		else
			srn_copy(dst, src, here);
	}
}

static noinline enum srn_verdict write_mem_pieces(const struct srn_sgl *sgl, u64 offset,
						  const struct srn_mem *mem, u64 addr, u32 len)
{
	enum srn_verdict v;
	struct held r __uninitialized;
	unsigned int i;

	v = held_get(&r, sgl, offset, len, IB_ACCESS_LOCAL_WRITE);
	if (v)
		return v;
	for (i = 0; i < r.num; i++) {
		copy_mem(r.pieces[i].mem, r.pieces[i].addr, mem, addr, r.pieces[i].len);
		addr += r.pieces[i].len;
	}
	held_put(&r);
	return SRN_OK;
}

enum srn_verdict srn_sgl_write_mem(const struct srn_sgl *sgl, u64 offset, const struct srn_mem *mem,
				   u64 addr, u32 len)
{
	enum srn_verdict v;
	struct piece p;

	if (unlikely(!is_in_first(sgl, offset, len)))
		return write_mem_pieces(sgl, offset, mem, addr, len);
	v = piece_get(&p, sgl, sgl->sge, offset, len, IB_ACCESS_LOCAL_WRITE);
	if (v)
		return v;
	copy_mem(p.mem, p.addr, mem, addr, len);
	srn_mem_put(p.mem);
	return SRN_OK;
}
EXPORT_SYMBOL_IF_KUNIT(srn_sgl_write_mem);

static noinline enum srn_verdict write_pieces(const struct srn_sgl *sgl, u64 offset,
					      struct sk_buff *skb, unsigned int from, u32 len)
{
	enum srn_verdict v;
	struct held r __uninitialized;
	unsigned int i;

	v = held_get(&r, sgl, offset, len, IB_ACCESS_LOCAL_WRITE);
	if (v)
		return v;
	for (i = 0; i < r.num; i++) {
		srn_mem_write_skb(r.pieces[i].mem, r.pieces[i].addr, skb, from, r.pieces[i].len);
		from += r.pieces[i].len;
	}
	held_put(&r);
	return SRN_OK;
}

enum srn_verdict srn_sgl_write_skb(const struct srn_sgl *sgl, u64 offset, struct sk_buff *skb,
				   unsigned int from, u32 len)
{
	enum srn_verdict v;
	struct piece p;

	if (unlikely(!is_in_first(sgl, offset, len)))
		return write_pieces(sgl, offset, skb, from, len);
	v = piece_get(&p, sgl, sgl->sge, offset, len, IB_ACCESS_LOCAL_WRITE);
	if (v)
		return v;
	srn_mem_write_skb(p.mem, p.addr, skb, from, len);
	srn_mem_put(p.mem);
	return SRN_OK;
}
EXPORT_SYMBOL_IF_KUNIT(srn_sgl_write_skb);

/* Whether the bytes at @p continue the last fragment, in the same folio: the
 * reference that fragment has then covers them too.
 */
static bool continues(const skb_frag_t *last, const struct folio *folio, const void *p)
{
	return page_folio(skb_frag_page(last)) == folio &&
	       skb_frag_address(last) + skb_frag_size(last) == p;
}

static enum srn_verdict attach_in_folio(struct sk_buff *skb, struct folio *folio, void *p,
					u32 len)
{
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	struct page *page = virt_to_page(p);

	if (shinfo->nr_frags && continues(&shinfo->frags[shinfo->nr_frags - 1], folio, p)) {
		skb_frag_size_add(&shinfo->frags[shinfo->nr_frags - 1], len);
	} else {
		/* One is for the trailer (xmit.c). */
		if (shinfo->nr_frags >= MAX_SKB_FRAGS - 1)
			return SRN_V_AGAIN;
		folio_get(folio);
		/* Not ours: that it came from a reserve says nothing of the packet. */
		skb_fill_page_desc_noacc(skb, shinfo->nr_frags, page, offset_in_page(p), len);
	}
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
	return SRN_OK;
}

/* Kernel users may post what the slab allocator or the stack holds, which has no
 * page references of its own. A process has none of that.
 */
static bool referable(const struct srn_mem *mem, const void *p)
{
	if (mem->type != SRN_MEM_DMA && mem->type != SRN_MEM_FRMR)
		return true;
	return virt_addr_valid(p) && sendpage_ok(virt_to_page(p));
}

/* The owner of the pages may write them until the packet is gone: who needs stable bytes has
 * to copy.
 */
enum srn_verdict srn_mem_attach(const struct srn_mem *mem, u64 addr, struct sk_buff *skb, u32 len)
{
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	while (len) {
		struct folio *folio;
		enum srn_verdict v;
		u64 here;
		void *p = srn_mem_span(mem, addr, &here);

		if (unlikely(!referable(mem, p)))
			return SRN_V_AGAIN;
		folio = virt_to_folio(p);
		here = min_t(u64, here, folio_size(folio) - (p - folio_address(folio)));
		here = min_t(u64, here, len);
		v = attach_in_folio(skb, folio, p, here);
		if (v)
			return v;
		addr += here;
		len -= here;
	}
	return SRN_OK;
}

enum srn_verdict srn_sgl_attach(const struct srn_sgl *sgl, u64 offset, struct sk_buff *skb,
				u32 len)
{
	enum srn_verdict v;
	struct held r __uninitialized;
	unsigned int i;

	v = held_get(&r, sgl, offset, len, 0);
	if (v)
		return v;
	for (i = 0; i < r.num && !v; i++)
		v = srn_mem_attach(r.pieces[i].mem, r.pieces[i].addr, skb, r.pieces[i].len);
	held_put(&r);
	return v;
}
EXPORT_SYMBOL_IF_KUNIT(srn_sgl_attach);
