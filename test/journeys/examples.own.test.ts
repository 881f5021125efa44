import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXAMPLES, FOLDER } from '../../tools/examples/catalog.ts'
import { type DemoServer, Trial } from '../../tools/examples/runner.ts'
import { install, tryExample } from '../../tools/examples/trials.ts'
import { launchBrowser, noBrowser } from '../support/browser.ts'
import { freePort, type ServerProcess, startServer } from '../support/process.ts'

/** Examples whose packages this checkout has. `npm run examples` runs the others too. */
const LENT = [
  'react',
  'native',
  'device',
  'device-curl',
  'machine-curl',
  'machine',
  'api-express',
  'mcp',
  'admin-table',
]
const examples = EXAMPLES.filter(({ id }) => LENT.includes(id))

const readPackages = (folder: string): Record<string, string> => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return { ...dependencies, ...devDependencies }
}

const readVersion = (name: string): string =>
  JSON.parse(readFileSync(join('node_modules', name, 'package.json'), 'utf8')).version

describe.skipIf(noBrowser)('the examples and the demo', () => {
  let process: ServerProcess
  let server: DemoServer
  let browser: Browser
  beforeAll(async () => {
    const { DATA_DIR = '', ENCRYPTION_KEY, DATABASE_URL, REDIS_URL, REDIS_PREFIX } = globalThis.process.env
    const port = await freePort()
    const origin = `http://localhost:${port}`
    const env = { DATA_DIR, ENCRYPTION_KEY, DATABASE_URL, REDIS_URL, REDIS_PREFIX, PORT: String(port) }
    process = await startServer({
      ...env,
      DEMO: '1',
      BOOTSTRAP_CLIENT_ID: undefined,
      BOOTSTRAP_CLIENT_SECRET: undefined,
    })
    browser = await launchBrowser()
    const { clients } = JSON.parse(readFileSync(join(DATA_DIR, 'demo.json'), 'utf8'))
    server = { origin, issuer: `${origin}/demo`, backend: clients.backend }
  }, 90_000)
  afterAll(async () => {
    await browser?.close()
    if (process) expect(await process.stop()).toBe(0)
  })

  test('complete the journey of `npm run demo` against a running server, whose log contains no token or code', {
    timeout: 90_000,
  }, async () => {
    const { PATH, DATA_DIR } = globalThis.process.env
    const env = { PATH, DATA_DIR, PORT: new URL(server.origin).port }
    const { stdout } = await promisify(execFile)('npx', ['tsx', 'tools/demo.ts'], { env })
    expect(stdout).toContain('amr ["hwk","user","mfa"]')
    expect(stdout).toContain('acr urn:vestibule:federated')
    expect(stdout).toContain('All of it worked.')
    const printed = process
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
    expect(printed.join('\n')).not.toMatch(/eyJ[\w-]+\.|\b\d{6}\b(?!\d)|grant_[a-z0-9]+\.\d/)
  })

  test.concurrent.for(examples)('$id signs in a user', { timeout: 90_000 }, async (example) => {
    const trial = await Trial.prepare(server, browser, example)
    try {
      await install(trial, true)
      await tryExample(trial)
    } finally {
      await trial.close()
    }
  })
})

test.for(LENT.filter((id) => !id.endsWith('curl')))('%s has the versions of this checkout', (id) => {
  for (const [name, version] of Object.entries(readPackages(join(FOLDER, id))))
    expect(readVersion(name)).toBe(version)
})
