import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { startServer } from '../support/process.ts'

const run = promisify(execFile)

describe('npm run demo', () => {
  test('completes the journey against a running server, whose log contains no token or code', {
    timeout: 120_000,
  }, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'vestibule-demo-'))
    const server = await startServer({
      DEMO: '1',
      DATA_DIR: directory,
      DATABASE_URL: process.env.DATABASE_URL,
      REDIS_URL: process.env.REDIS_URL,
      REDIS_PREFIX: process.env.REDIS_PREFIX,
      BOOTSTRAP_CLIENT_ID: undefined,
      BOOTSTRAP_CLIENT_SECRET: undefined,
    })
    try {
      const env = { PATH: process.env.PATH, DATA_DIR: directory, PORT: new URL(server.origin).port }
      const { stdout } = await run('npx', ['tsx', 'tools/demo.ts'], { env })
      expect(stdout).toContain('amr ["hwk","user","mfa"]')
      expect(stdout).toContain('acr urn:vestibule:federated')
      expect(stdout).toContain('All of it worked.')
      const printed = server
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{'))
      expect(printed.join('\n')).not.toMatch(/eyJ[\w-]+\.|\b\d{6}\b(?!\d)|grant_[a-z0-9]+\.\d/)
    } finally {
      expect(await server.stop()).toBe(0)
      await rm(directory, { recursive: true, force: true })
    }
  })
})
