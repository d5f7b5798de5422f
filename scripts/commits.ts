/**
 * Refuses commits that are no Conventional Commits: `npm run commits:check`. Checks the commits
 * since the newest release tag, or the last 20 when there is no tag. In a shallow clone it checks
 * the commits that exist.
 */
import { spawnSync } from 'node:child_process'
import { scriptOptions } from './options.ts'

const COMMITS_WITHOUT_TAG = 20

scriptOptions({
  command: 'npm run commits:check --',
  does: 'Refuses commits that are no Conventional Commits.',
})

const from = newestTag() ?? commitBefore(COMMITS_WITHOUT_TAG)
const range = from === undefined ? [] : ['--from', from]
const lint = spawnSync('commitlint', [...range, '--to', 'HEAD'], { stdio: 'inherit' })
if (lint.error !== undefined) throw lint.error
process.exitCode = lint.status ?? 1

function newestTag(): string | undefined {
  return git('describe', '--tags', '--abbrev=0', '--match', 'v*')
}

/** The commit before the last `count`; undefined when the history is shorter. */
function commitBefore(count: number): string | undefined {
  return git('rev-parse', '--verify', '--quiet', `HEAD~${count}`)
}

function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
