/**
 * Tokens in a file. The file is read again when it changes, so tokens can be rotated while the
 * service runs. Its path is checked once a second, which also finds a file that a mounted secret or
 * an editor has put in its place; a watch on the inode would not. A change that cannot be read is
 * logged once, without the contents, and the tokens from before stay valid.
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

/** Tokens that follow a file. */
export class TokensFile implements Tokens {
  readonly #path: string
  readonly #fixed: readonly Token[]
  #tokens = new TokenSet([])
  /** Version of the file when it was last read, or the code of the error that prevented that. */
  #version = ''
  #timer: NodeJS.Timeout | undefined

  private constructor(path: string, fixed: readonly Token[]) {
    this.#path = path
    this.#fixed = fixed
  }

  /** Reads the file. Its tokens and `fixed` are valid. Throws an error that names the file. */
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

  /** Checks the file for changes until `close`. */
  watch(log?: Log): void {
    this.#timer = setTimeout(() => void this.#look(log), LOOK_MS).unref()
  }

  /** Stops the checks. */
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

  /** Reads the file when it has changed. Returns whether it had. */
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

/** Warns of tokens that are short enough to be guessed. The message has their number only. */
export function warnOfShort({ short }: Tokens, log: Pick<Log, 'warn'> | undefined): void {
  if (short === 0) return
  const are = short === 1 ? 'a token has' : `${short} tokens have`
  log?.warn(
    `${are} fewer than ${TOKEN_SAFE_CHARS} characters and can be guessed; draw one with: openssl rand -hex 32`,
  )
}

/** Text that changes when the file is changed or replaced. */
const versionOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join()

async function tokensIn(path: string): Promise<readonly Token[]> {
  return parseTokens(await readFile(path, 'utf8'))
}
