import { describe, expect } from 'vitest'
import { CONSOLE_CLIENT_ID } from '../../src/model/console-client.ts'
import { ORIGIN } from '../support/browser.ts'
import { ensureBuilt } from '../support/build.ts'
import { listFirstLoad, readConsoleFile } from '../support/console-files.ts'
import { dbFor } from '../support/database.ts'
import { test } from '../support/fixtures.ts'

test.beforeAll(() => ensureBuilt())

const MAX_FIRST_LOAD_BYTES = 145_000

const readSettings = (html: string): Record<string, string> =>
  JSON.parse(
    (/<meta name="vestibule" content="([^"]*)"/.exec(html)?.[1] ?? '')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&'),
  )

describe('the console', () => {
  test('is one document at every path, which loads from this server alone', async ({ app, tenant }) => {
    for (const path of ['', '/users', '/users/user_1?x=%22%3E', '/a/b/c']) {
      const response = await fetch(`${app.origin}/${tenant}/console${path}`)
      expect([path, response.status, response.headers.get('cache-control')]).toEqual([path, 200, 'no-store'])
      const policy = response.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
      expect(policy).toContain("frame-src 'self'; form-action 'self'; frame-ancestors 'none'")
      expect(policy).not.toMatch(/unsafe|nonce|sha256/)
      const html = await response.text()
      expect(readSettings(html)).toEqual({
        issuer: `${ORIGIN}/${tenant}`,
        tenant,
        clientId: CONSOLE_CLIENT_ID,
        name: tenant,
        environment: 'development',
      })
      expect(html).not.toMatch(/<script(?![^>]* src="\/assets\/console\/)|<style|style=/)
    }
  })

  test('has files that are cached for good, in the encodings of the build', async ({ app }) => {
    const names = listFirstLoad()
    expect(names.length).toBeGreaterThan(2)
    for (const name of names) {
      const url = `${app.origin}/assets/console/${name}`
      const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
      expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(plain.headers.get('x-content-type-options')).toBe('nosniff')
      const compressed = await fetch(url, { headers: { 'accept-encoding': 'br' } })
      expect(compressed.headers.get('content-encoding')).toBe('br')
      expect(await compressed.text()).toBe(await plain.text())
    }
  })

  test('loads at most 145 KB before its first screen', () => {
    const bytes = listFirstLoad().map((name) => readConsoleFile(`${name}.br`).length)
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_FIRST_LOAD_BYTES)
  })

  test.for([
    '..%2f..%2fpackage.json',
    '%2e%2e',
    'sources.sha256',
    'index.js',
    'manifest.json.br',
    '__proto__',
  ])('has no file %s', async (name, { app }) => {
    expect((await fetch(`${app.origin}/assets/console/${name}`)).status).toBe(404)
  })

  test('makes its client when it is first opened, once', async ({ app, tenant, events, gql }) => {
    const open = () => fetch(`${app.origin}/${tenant}/console`)
    await Promise.all(Array.from({ length: 10 }, open))
    const [client, ...others] = await dbFor(tenant).client.findMany({
      where: { tenantId: tenant, id: CONSOLE_CLIENT_ID },
      select: { callbacks: true, dpopBoundAccessTokens: true },
    })
    expect(others).toEqual([])
    expect(client).toEqual({
      callbacks: [`${ORIGIN}/${tenant}/console/callback`],
      dpopBoundAccessTokens: true,
    })
    expect(await events({ type: 'client.created', subjectId: CONSOLE_CLIENT_ID })).toHaveLength(1)
    const { body } = await gql('query Find($id: ID!) { client(id: $id) { name } }', { id: CONSOLE_CLIENT_ID })
    expect(body.data).toEqual({ client: { name: 'Console' } })
  })

  test('gives its client the scopes and the redirect URI that it lacks', async ({ app, tenant, rest }) => {
    await fetch(`${app.origin}/${tenant}/console`)
    const path = `/clients/${CONSOLE_CLIENT_ID}`
    for (const fields of [
      { scopes: ['users:read'] },
      { callbacks: ['https://former.example/console/callback'] },
    ]) {
      expect((await rest('PATCH', path, fields)).status).toBe(200)
      await fetch(`${app.origin}/${tenant}/console`)
      const { body } = await rest('GET', path)
      expect(body).toMatchObject({
        scopes: expect.arrayContaining(['users:read', 'events:read', 'tenant:write']),
        callbacks: [`${ORIGIN}/${tenant}/console/callback`],
      })
    }
    await rest('PATCH', path, { name: 'Back office', requireConsent: true, scopes: ['users:read'] })
    await fetch(`${app.origin}/${tenant}/console`)
    expect((await rest('GET', path)).body).toMatchObject({ name: 'Back office', requireConsent: true })
  })

  test('is not found in a tenant that does not exist', async ({ app }) => {
    expect((await fetch(`${app.origin}/no-such-tenant/console`)).status).toBe(404)
  })

  test('leads operators from /console to that of their tenant', async ({ app }) => {
    const { status, headers } = await fetch(`${app.origin}/console`, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([303, `${ORIGIN}/system/console`])
  })
})
