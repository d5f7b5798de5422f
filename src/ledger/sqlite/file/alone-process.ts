/**
 * Process that reports on standard output whether no other connection has the ledger at the given
 * path open. It ends without closing the ledger.
 */
import { writeSync } from 'node:fs'
import { ALONE, openAlone } from './alone.ts'

const STDOUT = 1

if (openAlone(process.argv[2] as string) !== undefined) writeSync(STDOUT, ALONE)
process.kill(process.pid, 'SIGKILL')
