/**
 * Chooses the upload that makes room when the limit of uploads is reached: one that has had no data
 * for a while, or one of a tenant that has more uploads than the asking tenant. So no tenant keeps
 * another out, however fast its uploads are.
 */

/** An upload that is under way. */
export interface Share {
  readonly tenant: string
  /** Bytes that have come so far. */
  readonly bytes: number
  /** Time of the last data, in milliseconds of this process's monotonic clock. */
  readonly quietSince: number
}

/** The upload that makes room, by its key, and the reason. */
export type GivingWay = { readonly key: number; readonly why: 'quiet' | 'share' }

/**
 * Returns the upload that makes room for one of `tenant`. First choice: the upload that has been
 * quiet for longest, if its last data came at `quietBefore` or earlier. Otherwise, of the tenant
 * with the most uploads, the one with the fewest bytes, if that tenant then still has at least as
 * many uploads as `tenant`. Undefined when there is none.
 */
export function givingWay(
  underWay: ReadonlyMap<number, Share>,
  { tenant, quietBefore }: { readonly tenant: string; readonly quietBefore: number },
): GivingWay | undefined {
  const all = [...underWay]
  const [quietest] = all.toSorted(([, a], [, b]) => a.quietSince - b.quietSince)
  if (quietest !== undefined && quietest[1].quietSince <= quietBefore) {
    return { key: quietest[0], why: 'quiet' }
  }
  const counts = new Map<string, number>()
  for (const [, share] of all) counts.set(share.tenant, (counts.get(share.tenant) ?? 0) + 1)
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a)
  if (most === undefined || most[1] - 1 < (counts.get(tenant) ?? 0) + 1) return undefined
  const [least] = all
    .filter(([, share]) => share.tenant === most[0])
    .toSorted(([, a], [, b]) => a.bytes - b.bytes)
  return least === undefined ? undefined : { key: least[0], why: 'share' }
}
