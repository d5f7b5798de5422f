/**
 * Who makes room where as many uploads are under way as may be: one of which nothing has come for a while, or one of a tenant that has
 * more of them than the tenant that asks. So no tenant keeps another out, however fast its uploads are.
 */

export interface Share {
  readonly tenant: string
  /** Bytes that it has brought so far. */
  readonly bytes: number
  /** Since when nothing has come of it, by the clock of this process in milliseconds. */
  readonly quietSince: number
}

export type GivingWay = { readonly key: number; readonly why: 'quiet' | 'share' }

/**
 * The upload that makes room for one of `tenant`: the one that is quiet for longest, if that is since `quietBefore` or longer.
 * Else, of the tenant with most uploads, the one that has brought least, if that tenant still has as many as `tenant` after. Undefined
 * when there is none.
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
