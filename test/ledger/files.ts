// What stands in the files of a ledger.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Names of the files in `folder`, of those that begin with `prefix`, that hold `word`. By another process: closing a file of an open
 * ledger in this one would drop SQLite's locks on it.
 */
export function filesWith(word: string, folder: string, prefix = ''): readonly string[] {
  return readdirSync(folder).filter((name) => {
    if (!name.startsWith(prefix)) return false
    const search = 'grep -c -a -F -e "$0" "$1" || true'
    const answer = execFileSync('sh', ['-c', search, word, join(folder, name)])
    return Number(answer.toString()) > 0
  })
}
