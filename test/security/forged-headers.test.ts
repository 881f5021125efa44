import { describe, expect } from 'vitest'
import { rawRequest } from '../support/attacks.ts'
import { test as base } from '../support/fixtures.ts'
import { answerIn, basic, csrfIn } from '../support/protocol.ts'

const FORGED = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'gopher',
  'x-forwarded-port': '666',
  'x-forwarded-prefix': '/evil',
  'x-original-url': '/evil',
  'x-rewrite-url': '/evil',
  'x-host': 'evil.example',
  'x-forwarded-server': 'evil.example',
  'x-http-host-override': 'evil.example',
  origin: 'https://evil.example',
  referer: 'https://localhost:3000//evil.example',
  forwarded: 'for=6.6.6.6;host=evil.example;proto=gopher',
}
/** Any trace of the forged headers. Random identifiers may contain '666' or 'evil' alone. */
const FORGED_VALUE = /evil\.example|\/evil\b|:666\b|gopher/
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const toClaims = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

/** With requests that carry the forged headers. */
const test = base
  .extend('authorization', { scope: 'file' }, ({ token }) => ({ authorization: `Bearer ${token}` }))
  /** A browser whose requests carry the forged headers; it records every response. */
  .extend('forger', ({ app }) => {
    const cookies = new Map<string, string>()
    const seen: string[] = []
    // A page is loaded without Origin; a form of another origin would be rejected.
    const { origin: _, ...forged } = FORGED
    const open = async (path: string, form?: Record<string, string>) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const headers = { ...forged, ...(cookie && { cookie }), ...(form && FORM) }
      const post = form && { method: 'POST', body: String(new URLSearchParams(form)) }
      const answer = await rawRequest(app.origin, path, headers, post)
      for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        cookies.set(name, value)
      }
      seen.push(JSON.stringify(answer.headers), answer.body)
      return answer
    }
    return { open, seen }
  })

describe('forged Host and forwarding headers', () => {
  test('change no metadata, key set, page or redirect', async ({ app, tenant, oidc, authorization }) => {
    const { host } = new URL(app.origin)
    for (const path of [
      `/${tenant}/.well-known/openid-configuration`,
      `/.well-known/oauth-authorization-server/${tenant}`,
      `/${tenant}/.well-known/jwks.json`,
      `/${tenant}/oidc/authorize`,
      oidc.authorizePath({ prompt: 'none' }),
      `/${tenant}/oidc/userinfo`,
      `/${tenant}/oidc/logout`,
      `/${tenant}/oidc/token`,
      `/${tenant}/api/v1/users`,
      `/${tenant}/api/v1/nothing`,
      `/${tenant}/graphql?query={tenant{id}}`,
      '/health/live',
      '/dev/inbox',
      '/dev/client',
    ]) {
      const honest = await rawRequest(app.origin, path, { host, ...authorization })
      const forged = await rawRequest(app.origin, path, { ...FORGED, ...authorization })
      expect(`${JSON.stringify(forged.headers)}${forged.body}`, path).not.toMatch(FORGED_VALUE)
      const { 'x-request-id': id = '', location } = honest.headers
      expect(forged.headers, path).toMatchObject(location ? { location } : {})
      expect([path, forged.status]).toEqual([path, honest.status])
      const neutral = (text: string, requestId: unknown) =>
        requestId ? text.replaceAll(String(requestId), 'ID') : text
      expect(neutral(forged.body, forged.headers['x-request-id'])).toBe(neutral(honest.body, id))
    }
  })

  test('appear in no cookie, mail, redirect, token or Location of a sign-in', async ({
    app,
    tenant,
    client,
    oidc,
    inbox,
    person,
    forger,
    authorization,
  }) => {
    const start = await forger.open(oidc.authorizePath({ scope: 'openid offline_access' }))
    const handle = String(start.headers.location)
    expect(handle).toMatch(new RegExp(`^/${tenant}/signin/`))
    const csrf = csrfIn((await forger.open(handle)).body)
    await forger.open(handle, { csrf, step: 'email', address: person.email })
    const code = await inbox.codeFor(person.email)
    forger.seen.push(JSON.stringify(await inbox.list(person.email)))
    await forger.open(`${handle}/code`, { csrf, step: 'code', code })
    const answer = answerIn(String((await forger.open(handle)).headers.location))
    expect(answer.iss).toBe(`http://localhost:3000/${tenant}`)
    const { body: tokens } = await oidc.exchange(answer.code ?? '')
    const refreshed = await rawRequest(
      app.origin,
      `/${tenant}/oidc/token`,
      { ...FORGED, ...FORM, authorization: basic(client) },
      { method: 'POST', body: `grant_type=refresh_token&refresh_token=${tokens.refresh_token}` },
    )
    const { access_token: access, id_token: id } = JSON.parse(refreshed.body)
    expect(toClaims(access).iss).toBe(`http://localhost:3000/${tenant}`)
    expect(toClaims(id).iss).toBe(`http://localhost:3000/${tenant}`)
    const created = await rawRequest(
      app.origin,
      `/${tenant}/api/v1/users`,
      { ...FORGED, ...authorization, 'content-type': 'application/json' },
      { method: 'POST', body: '{}' },
    )
    expect(created.headers.location).toMatch(new RegExp(`^/${tenant}/api/v1/users/user_`))
    expect([...forger.seen, JSON.stringify([toClaims(access), toClaims(id)])].join('\n')).not.toMatch(
      FORGED_VALUE,
    )
  })
})

describe('a request', () => {
  test.for(['x:99999', '%%%', '[', '', 'a b', '@', '?', 'evil.example/..', 'localhost:3000#'])(
    'with Host %j is answered as with any other Host',
    async (host, { app, tenant, client, authorization }) => {
      for (const path of [
        `/${tenant}/api/v1/users?pageSize=1`,
        `/${tenant}/graphql?query={__typename}`,
        `/${tenant}/.well-known/openid-configuration`,
        `/${tenant}/oidc/logout?client_id=${client.id}`,
        '/health/live',
        '/dev/inbox.json?to=a',
      ]) {
        const { status, body } = await rawRequest(app.origin, path, { host, ...authorization })
        expect([path, status]).toEqual([path, 200])
        expect(body).not.toMatch(/node_modules|at new URL/)
      }
    },
  )

  test.for(['http://evil.example/', '//evil.example/', 'http://localhost:3000/', '\\\\evil\\'])(
    'whose target starts with %s is rejected',
    async (prefix, { app, tenant, authorization }) => {
      for (const path of [
        `${tenant}/api/v1/users`,
        `${tenant}/graphql?query={__typename}`,
        `${tenant}/oidc/userinfo`,
      ]) {
        const { status } = await rawRequest(app.origin, `${prefix}${path}`, authorization)
        expect([400, 404]).toContain(status)
      }
    },
  )

  test('keeps its method despite override headers, and TRACE and PROPFIND are rejected', async ({
    app,
    tenant,
    token,
    create,
    authorization,
  }) => {
    const { id } = await create('/users')
    const path = `/${tenant}/api/v1/users/${id}`
    const headers = { ...authorization, 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' }
    expect((await rawRequest(app.origin, `${path}?_method=DELETE`, headers)).status).toBe(400)
    expect((await rawRequest(app.origin, path, headers)).status).toBe(200)
    for (const method of ['TRACE', 'PROPFIND'])
      for (const target of [path, `/${tenant}/graphql`, `/${tenant}/oidc/userinfo`]) {
        const { status, body } = await rawRequest(app.origin, target, headers, { method })
        expect([405, 404]).toContain(status)
        expect(body).not.toContain(token)
      }
  })
})
