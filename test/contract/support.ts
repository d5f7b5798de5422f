// A service in this process, with an empty ledger in a folder of its own and a clock that the test moves.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { readConfig } from '../../src/config.ts'
import type { OpenApiDocument } from '../../src/http/docs/openapi-document.ts'
import { startService } from '../../src/service.ts'

export interface TestService {
  readonly app: FastifyInstance
  readonly document: OpenApiDocument
  readonly clock: { ms: number }
  close(): Promise<void>
}

export async function startTestService(
  settings: Record<string, string> = {},
): Promise<TestService> {
  const folder = mkdtempSync(join(tmpdir(), 'coatcheck-contract-'))
  const clock = { ms: Date.UTC(2026, 0, 31) }
  const config = readConfig({ COATCHECK_LEDGER: join(folder, 'ledger.db'), ...settings })
  const { app, close } = await startService(config, { now: () => clock.ms })
  await app.ready()
  return {
    app,
    get document() {
      return app.swagger() as unknown as OpenApiDocument
    },
    clock,
    async close() {
      await close()
      rmSync(folder, { recursive: true })
    },
  }
}
