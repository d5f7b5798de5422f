/**
 * Checks that a release of the version in `package.json` can be made, and prints the commands that
 * make it: `npm run release -- --dry-run`. Changes nothing. Prints everything that is missing and
 * then exits 1.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import manifest from '../package.json' with { type: 'json' }
import { VERSION } from '../src/core/version.ts'
import { scriptOptions } from './options.ts'
import { FIXTURES, fixtureOf, schemaVersion } from './release/ledger-fixture.ts'

const { flags } = scriptOptions({
  command: 'npm run release -- --dry-run',
  does: 'Checks version, changelog, image and ledger fixture of a release, and prints the commands that make it.',
  flags: { 'dry-run': 'check and change nothing; the only way there is' },
})

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
const { version } = manifest
const problems = [...wrongVersions(), ...wrongChangelog(), ...wrongFixture(), ...wrongRepository()]

for (const problem of problems) console.error(`- ${problem}`)
if (problems.length > 0) {
  console.error(`${version} cannot be released: ${problems.length} to mend`)
  process.exitCode = 1
} else {
  console.log(
    `${version} can be released${flags['dry-run'] ? '' : '; this command only checks, so run'}:`,
  )
  console.log(`  git tag --annotate v${version} --message "coatcheck ${version}"`)
  console.log(`  docker build --tag coatcheck:${version} .`)
}

function wrongVersions(): readonly string[] {
  const lock = JSON.parse(read('package-lock.json')) as { readonly version: string }
  const label = /image\.version="([^"]*)"/.exec(read('Dockerfile'))?.[1]
  const document = /^ {2}version: (.*)$/m.exec(read('openapi.yaml'))?.[1]
  const found = {
    'package-lock.json': lock.version,
    'src/core/version.ts': VERSION,
    'the image label of Dockerfile': label,
    'openapi.yaml': document,
  }
  return Object.entries(found)
    .filter(([, of]) => of !== version)
    .map(([where, of]) => `${where} has the version ${of}, and package.json ${version}`)
}

function wrongChangelog(): readonly string[] {
  const text = read('CHANGELOG.md')
  const heading = new RegExp(
    `^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d\\d-\\d\\d$`,
    'm',
  )
  return heading.test(text)
    ? []
    : [`CHANGELOG.md has no heading "## [${version}] - YYYY-MM-DD"; name "[Unreleased]" so`]
}

function wrongFixture(): readonly string[] {
  const known = schemaVersion()
  if (existsSync(fixtureOf(known))) return []
  const have = existsSync(FIXTURES) ? readdirSync(FIXTURES).join(', ') : 'none'
  return [
    `there is no ledger of schema version ${known} in test/fixtures/ledgers (${have}): node scripts/release/ledger-fixture.ts`,
  ]
}

function wrongRepository(): readonly string[] {
  const { repository } = manifest as { readonly repository?: { readonly url?: string } }
  return repository?.url === undefined
    ? [
        'package.json has no repository.url: name the public one, in the label image.source of Dockerfile too',
      ]
    : []
}
