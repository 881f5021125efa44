import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { sha256Hex } from '../../src/core/crypto.ts'
import { vestibule } from '../support/cli.ts'
import { test } from '../support/fixtures.ts'

const QUERY = 'query Users { users(first: 10) { nodes { id } } }'
const SCOPES = 'query Scopes { viewer { scopes } }'

function writeManifest(manifest: unknown): string {
  const directory = mkdtempSync(join(tmpdir(), 'vestibule-documents-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'manifest.json')
  writeFileSync(path, typeof manifest === 'string' ? manifest : JSON.stringify(manifest))
  return path
}

describe('vestibule document', () => {
  test('registers the manifests of Relay and Apollo, lists and deletes documents', async ({
    tenant,
    client,
  }) => {
    const at = ['--tenant', tenant, '--client', client.id]
    const relay = writeManifest({ '0a1b2c': QUERY, scopes: SCOPES })
    const apollo = writeManifest({
      format: 'apollo-persisted-query-manifest',
      version: 1,
      operations: [{ id: sha256Hex(QUERY), name: 'Users', type: 'query', body: QUERY }],
    })
    const pushed = await vestibule(['document', 'push', relay, ...at])
    expect([pushed.code, pushed.stderr, pushed.stdout]).toEqual([
      0,
      '',
      'Registered 2; 0 were registered before.\n',
    ])
    const { stdout } = await vestibule(['document', 'push', apollo, ...at, '--json'])
    expect(JSON.parse(stdout)).toEqual({ registered: 1, unchanged: 0 })
    const listed = await vestibule(['document', 'list', ...at])
    expect(listed.stdout).toMatch(/^ID +OPERATION +BYTES +REGISTERED\n/)
    expect(listed.stdout).toMatch(/^scopes +Scopes +34 +\d{4}-/m)
    const deleted = await vestibule(['document', 'delete', 'scopes', ...at, '--yes'])
    expect([deleted.code, deleted.stdout]).toEqual([0, 'Deleted 1.\n'])
    expect((await vestibule(['document', 'delete', '--all', ...at, '--yes'])).stdout).toBe('Deleted 2.\n')
  })

  test('says what is wrong with a file', async ({ tenant, client }) => {
    const push = async (path: string) =>
      (await vestibule(['document', 'push', path, '--tenant', tenant, '--client', client.id])).stderr
    expect(await push(writeManifest([]))).toContain('file: must be a manifest')
    expect(await push(writeManifest({ a: 1 }))).toContain('documents.0.text: must be a string')
    expect(await push(writeManifest(`"${'a'.repeat(10_000_000)}"`))).toContain('file: must have at most')
  })
})
