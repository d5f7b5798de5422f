/** Errors of the system in words: what went wrong, where, and the code in brackets for whoever looks it up. */
import { getSystemErrorMessage } from 'node:util'

/** Undefined for an error that is not the system's. */
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
