/**
 * Bearer tokens and the tenants they belong to. Tokens are stored and looked up as keyed digests.
 * The time of a look-up tells nothing about a token, because no client can choose a digest. No
 * error shows a token or a part of a line.
 */
import { createHmac, randomBytes } from 'node:crypto'

/** Tenant of the operator: of COATCHECK_TOKEN, and of a service without tokens. */
export const OPERATOR = ''

const TENANT = /^(?:[A-Za-z0-9_][A-Za-z0-9._-]{0,63})?$/
/** Text that an authorization header can hold after "Bearer " (RFC 6750). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/
const DIGEST_KEY_BYTES = 32
/** Characters below which a token can be guessed, as the number of attempts is not limited. */
export const TOKEN_SAFE_CHARS = 16

/** A token and its tenant. */
export interface Token {
  readonly tenant: string
  readonly token: string
}

/** Look-up of tenants by token. */
export interface Tokens {
  /** Tenant of a token; undefined for a token that is not valid. */
  tenantOf(token: string): string | undefined
  /** Number of tokens with fewer than {@link TOKEN_SAFE_CHARS} characters. */
  readonly short: number
}

/** A fixed set of tokens. */
export class TokenSet implements Tokens {
  readonly #key = randomBytes(DIGEST_KEY_BYTES)
  readonly #tenants = new Map<string, string>()
  readonly short: number

  /** Throws when a token belongs to two tenants. */
  constructor(tokens: readonly Token[]) {
    this.short = tokens.filter(({ token }) => token.length < TOKEN_SAFE_CHARS).length
    for (const { tenant, token } of tokens) {
      const digest = this.#digest(token)
      if ((this.#tenants.get(digest) ?? tenant) !== tenant) {
        throw new Error(
          `a token of the tenant ${JSON.stringify(tenant)} also belongs to another tenant`,
        )
      }
      this.#tenants.set(digest, tenant)
    }
  }

  tenantOf(token: string): string | undefined {
    return this.#tenants.get(this.#digest(token))
  }

  #digest(token: string): string {
    return createHmac('sha256', this.#key).update(token).digest('base64')
  }
}

/** Throws for a token that no client could send. The error calls it `what`. */
export function requireToken(token: string, what: string): void {
  if (TOKEN.test(token)) return
  throw new Error(
    `${what} is not one or more letters, digits and "._~+/-", with "=" only at its end`,
  )
}

/**
 * Reads lines of the form `tenant:token`. Empty lines, and lines that begin with `#`, are skipped.
 * Throws an error with the number of the wrong line.
 */
export function parseTokens(text: string): readonly Token[] {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  const tokens = lines.flatMap((line, n) => parseLine(line.trim(), n + 1))
  if (tokens.length === 0) throw new Error('there is no token in it')
  return tokens
}

function parseLine(line: string, number: number): readonly Token[] {
  if (line === '' || line.startsWith('#')) return []
  const colon = line.indexOf(':')
  if (colon < 0) throw new Error(`line ${number} is not tenant:token`)
  const [tenant, token] = [line.slice(0, colon), line.slice(colon + 1)]
  if (!TENANT.test(tenant)) {
    throw new Error(
      `the tenant of line ${number} is not up to 64 letters, digits and "._-", beginning with a letter, a digit or "_"`,
    )
  }
  requireToken(token, `the token of line ${number}`)
  return [{ tenant, token }]
}
