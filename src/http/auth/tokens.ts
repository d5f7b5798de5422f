/**
 * Bearer tokens, each naming the tenant that it speaks for. They are kept as keyed digests and looked up by these: how long that
 * takes tells nothing of a token, because nobody outside can choose a digest. No error names a token or shows any part of a line.
 */
import { createHmac, randomBytes } from 'node:crypto'

/** The tenant of COATCHECK_TOKEN, and of a service without tokens. Its holder runs the service. */
export const OPERATOR = ''

const TENANT = /^(?:[A-Za-z0-9_][A-Za-z0-9._-]{0,63})?$/
/** What an authorization header can carry after "Bearer " (RFC 6750). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/
const DIGEST_KEY_BYTES = 32
/** A shorter one can be guessed by trying: there is no limit on guesses. */
export const TOKEN_SAFE_CHARS = 16

export interface Token {
  readonly tenant: string
  readonly token: string
}

/** Whoever can tell a token's tenant: a set, or a file that changes. */
export interface Tokens {
  tenantOf(token: string): string | undefined
  /** How many are so short that they can be guessed by trying. */
  readonly short: number
}

export class TokenSet implements Tokens {
  readonly #key = randomBytes(DIGEST_KEY_BYTES)
  readonly #tenants = new Map<string, string>()
  /** How many have fewer than {@link TOKEN_SAFE_CHARS} characters. */
  readonly short: number

  /** Throws when one token names two tenants. */
  constructor(tokens: readonly Token[]) {
    this.short = tokens.filter(({ token }) => token.length < TOKEN_SAFE_CHARS).length
    for (const { tenant, token } of tokens) {
      const digest = this.#digest(token)
      if ((this.#tenants.get(digest) ?? tenant) !== tenant) {
        throw new Error(`a token of the tenant ${JSON.stringify(tenant)} is another's as well`)
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

/** Throws for what no client could send, naming it as `what`. */
export function requireToken(token: string, what: string): void {
  if (TOKEN.test(token)) return
  throw new Error(
    `${what} is not one or more letters, digits and "._~+/-", with "=" only at its end`,
  )
}

/** The `tenant:token` lines of a text; lines that are empty or begin with `#` are none. Throws naming the line that is wrong. */
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
