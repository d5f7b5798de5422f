// Writes openapi.yaml from the route schemas; with --check, exits 1 when the committed file differs.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { openApiYaml } from '../src/http/plugins/docs.ts'
import { startService } from '../src/service.ts'

const TARGET = new URL('../openapi.yaml', import.meta.url)

const folder = await mkdtemp(join(tmpdir(), 'coatcheck-openapi-'))
const service = await startService(readConfig({ COATCHECK_LEDGER: join(folder, 'ledger.db') }))
await service.app.ready()
const text = openApiYaml(service.app)
await service.close()
await rm(folder, { recursive: true })

if (!process.argv.includes('--check')) await writeFile(TARGET, text)
else if ((await readFile(TARGET, 'utf8').catch(() => '')) !== text) {
  console.error('openapi.yaml is not what the routes say: npm run openapi')
  process.exitCode = 1
}
