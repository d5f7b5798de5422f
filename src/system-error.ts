/** Texts of system errors: the cause, the path or address, and the code in parentheses. */
import { getSystemErrorMessage } from 'node:util'

/** Text of a system error. Undefined for any other error. */
export function systemErrorWords(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, errno, syscall, path, address, port } = error as NodeJS.ErrnoException & {
    readonly address?: string
    readonly port?: number
  }
  if (code === undefined || errno === undefined || syscall === undefined) return undefined
  const where = path ?? (address === undefined ? undefined : `${address} port ${port}`)
  return `${getSystemErrorMessage(errno)}${where === undefined ? '' : `: ${where}`} (${syscall}, ${code})`
}
