/**
 * Tokens in a file, read again when it changes, so that they are rotated while the service runs. The file is looked at by its
 * path once a second: what a mounted secret or an editor puts in its place is found as well, which watching an inode does not
 * see. A change that cannot be read is logged once, without what is in it, and the tokens from before stay.
 */
import type { BigIntStats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { systemErrorWords } from '../../system-error.ts'
import { parseTokens, TOKEN_SAFE_CHARS, type Token, TokenSet, type Tokens } from './tokens.ts'

const LOOK_MS = 1_000
const FILE_BYTES = 1_048_576

interface Log {
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export class TokensFile implements Tokens {
  readonly #path: string
  readonly #fixed: readonly Token[]
  #tokens = new TokenSet([])
  /** Of the file that was read last, well or not. */
  #version = ''
  #timer: NodeJS.Timeout | undefined

  private constructor(path: string, fixed: readonly Token[]) {
    this.#path = path
    this.#fixed = fixed
  }

  /** Throws, naming the file, when it cannot be read as tokens. `fixed` are valid besides. */
  static async open(path: string, fixed: readonly Token[]): Promise<TokensFile> {
    const file = new TokensFile(path, fixed)
    await file.#read()
    return file
  }

  get short(): number {
    return this.#tokens.short
  }

  tenantOf(token: string): string | undefined {
    return this.#tokens.tenantOf(token)
  }

  /** Looks for changes from now on, until `close`. */
  watch(log?: Log): void {
    this.#timer = setTimeout(() => void this.#look(log), LOOK_MS).unref()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #look(log: Log | undefined): Promise<void> {
    const before = this.#version
    try {
      if (await this.#read()) {
        log?.info('the tokens were read again')
        warnOfShort(this, log)
      }
    } catch (error) {
      const isNews = this.#version !== before
      if (isNews) log?.error(`${(error as Error).message}; the tokens from before stay valid`)
    }
    if (this.#timer !== undefined) this.watch(log)
  }

  /** Whether there was anything new. */
  async #read(): Promise<boolean> {
    try {
      const stats = await stat(this.#path, { bigint: true })
      const version = versionOf(stats)
      if (version === this.#version) return false
      this.#version = version
      if (!stats.isFile()) throw new Error('it is no file')
      if (stats.size > FILE_BYTES) throw new Error(`it has more than ${FILE_BYTES} bytes`)
      this.#tokens = new TokenSet([...this.#fixed, ...(await tokensIn(this.#path))])
      return true
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code !== undefined) this.#version = code
      throw new Error(
        `COATCHECK_TOKENS_FILE ${this.#path} cannot be used: ${systemErrorWords(error) ?? message}`,
        {
          cause: error,
        },
      )
    }
  }
}

/** Tells how many tokens can be guessed by trying; not which, and nothing of them. */
export function warnOfShort({ short }: Tokens, log: Pick<Log, 'warn'> | undefined): void {
  if (short === 0) return
  const are = short === 1 ? 'a token has' : `${short} tokens have`
  log?.warn(
    `${are} fewer than ${TOKEN_SAFE_CHARS} characters and can be guessed; draw one with: openssl rand -hex 32`,
  )
}

/** Changes whenever the file does, or another takes its place. */
const versionOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join()

async function tokensIn(path: string): Promise<readonly Token[]> {
  return parseTokens(await readFile(path, 'utf8'))
}
