import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import { rawRequest } from '../support/attacks.ts'
import { test } from '../support/fixtures.ts'
import { answerIn } from '../support/protocol.ts'

describe('a path', () => {
  /** Other spellings of a path that lenient routers treat as the same one. */
  const listSpellings = (path: string, slug: string) => [
    `/${path}`,
    path.replaceAll('/', '//'),
    `${path}/`,
    `${path}.`,
    `${path};a=b`,
    `${path}%00`,
    `${path}%20`,
    path.replace('/', '%2f'),
    path.replace(slug, `%${slug.charCodeAt(0).toString(16)}${slug.slice(1)}`),
    path.replace(slug, `%25${slug.charCodeAt(0).toString(16)}${slug.slice(1)}`),
    path.replace(slug, slug.toUpperCase()),
    path.replace(slug, `${slug}%00`),
    path.replace(slug, `${slug}.`),
    path.replace(slug, `x/../${slug}`),
    path.replace(slug, `./${slug}`),
    path.replace(slug, slug.replace('t', '\uff54')),
  ]

  test.for(['api/v1/users', 'graphql', 'oidc/userinfo', '.well-known/openid-configuration'])(
    'to %s exists in one spelling only',
    async (path, { app, tenant, token }) => {
      const whole = `/${tenant}/${path}`
      const query = path === 'graphql' ? '?query={__typename}' : ''
      const authorization = `Bearer ${token}`
      expect((await rawRequest(app.origin, whole + query, { authorization })).status).not.toBe(404)
      for (const spelling of listSpellings(whole, tenant)) {
        const target = Buffer.from(spelling).toString('latin1')
        const { status } = await rawRequest(app.origin, target + query, { authorization }).catch(() => ({
          status: 404,
        }))
        expect([spelling, status >= 400 && status < 405 && status !== 401]).toEqual([spelling, true])
      }
    },
  )
})

/** Printable bytes that look random and are the same in each run. */
const toBytes = (seed: number, length: number) =>
  Array.from({ length }, (_, i) => String.fromCharCode(33 + ((seed * 7919 + i * 104_729) % 223)))
    .join('')
    .replaceAll('\u007f', '~')

const listMalformed = (token: string) => [
  'Bearer',
  'Bearer ',
  'Bearer  ',
  'Bearer null',
  'Bearer undefined',
  'Bearer ..',
  'Bearer a.b.c',
  'Bearer e30.e30.',
  'Bearer e30.e30.e30',
  'Bearer bnVsbA.bnVsbA.bnVsbA',
  `Bearer ${'.'.repeat(1000)}`,
  `Bearer ${token},`,
  `Bearer ${token} ${token}`,
  `Bearer "${token}"`,
  `Token ${token}`,
  token,
  'Basic Og==',
  'Basic //////==',
  'Negotiate x',
  '\u00ff\u00fe\u0080',
  `Bearer \u00e9${token}`,
  ...Array.from({ length: 30 }, (_, seed) => `Bearer ${toBytes(seed, 10 + seed * 7)}`),
  ...Array.from({ length: 10 }, (_, seed) => toBytes(seed + 100, 40)),
]

describe('an Authorization header', () => {
  test('is rejected when it is malformed', async ({ app, tenant, token }) => {
    for (const authorization of listMalformed(token)) {
      for (const path of ['api/v1/users', 'graphql?query={__typename}', 'oidc/userinfo']) {
        const { status } = await rawRequest(app.origin, `/${tenant}/${path}`, { authorization })
        expect([path, authorization, status]).toEqual([path, authorization, 401])
      }
      const { status } = await rawRequest(
        app.origin,
        `/${tenant}/oidc/token`,
        { authorization, 'content-type': 'application/x-www-form-urlencoded' },
        { method: 'POST', body: 'grant_type=client_credentials' },
      )
      expect([401, 429]).toContain(status)
    }
  })

  test('is rejected when a valid one follows an invalid one', async ({ app, tenant, token }) => {
    const { port } = new URL(app.origin)
    const requestWith = (path: string, first: string, second: string) =>
      new Promise<number>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () => {
          socket.write(
            `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${first}\r\nAuthorization: ${second}\r\nConnection: close\r\n\r\n`,
          )
        })
        socket.once('data', (chunk) => resolve(Number(String(chunk).slice(9, 12))))
      })
    for (const path of ['api/v1/users', 'graphql?query={__typename}', 'oidc/userinfo'])
      expect(await requestWith(`/${tenant}/${path}`, 'Bearer x', `Bearer ${token}`)).toBe(401)
  })
})

describe('a parameter or cookie with U+0000', () => {
  test('is rejected by the token endpoint with invalid_request', async ({ oidc, person, browser }) => {
    const { location } = await oidc.signIn(browser, person.email, { scope: 'openid offline_access' })
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    expect(await oidc.refresh(body.refresh_token ?? '', { scope: 'openid\u0000' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
  })

  test.for([
    'users/by-email?email=%00',
    'users/%00',
    'users/by-phone-number?phoneNumber=%00',
    'sessions/%00',
  ])('is rejected by REST in %s', async (path, { rest }) => {
    expect((await rest('GET', `/${path}`)).status).toBeLessThan(500)
  })

  test('is ignored in a cookie', async ({ tenant, oidc, browser }) => {
    for (const cookie of [
      `vst_sid_${tenant}=\u0001`,
      `vst_sid_${tenant}`,
      '=',
      ';;;',
      `vst_sid_${tenant}=%00`,
    ]) {
      const { status } = await browser
        .fetch(oidc.authorizePath(), { headers: { cookie } })
        .catch(() => ({ status: 303 }))
      expect(status).toBe(303)
    }
  })
})
