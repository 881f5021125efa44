import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { listInbox } from '../../src/delivery/inbox.ts'
import { createUser } from '../../src/users/users.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  codeFor,
  csrfIn,
  exchange,
  makeClient,
  makeUser,
  refreshWith,
  signInAt,
} from '../oidc/provider.ts'
import { ctxFor, newTenant, tokenFor } from '../support/actors.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { rawRequest } from '../support/attacks.ts'
import { openEventStream } from '../support/streams.ts'

let app: TestApp
let tenant: string
let token: string
let client: Awaited<ReturnType<typeof makeClient>>

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  token = await tokenFor(tenant)
  client = await makeClient(tenant)
})
const opened: { close: () => void }[] = []
afterEach(() => {
  for (const item of opened.splice(0)) item.close()
})
afterAll(() => app.close())

const POISON = {
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
const authorization = () => ({ authorization: `Bearer ${token}` })
/** Not '666' or 'evil' alone: random identifiers and keys hold such now and then. */
const NOTHING_EVIL = /evil\.example|\/evil\b|:666\b|gopher/
const formType = { 'content-type': 'application/x-www-form-urlencoded' }

describe('security 19, 44, 51: no header of a request has a say in what the platform says of itself', () => {
  test('metadata, keys, pages and redirects are the same with forged Host and forwarding headers', async () => {
    const paths = [
      `/${tenant}/.well-known/openid-configuration`,
      `/.well-known/oauth-authorization-server/${tenant}`,
      `/${tenant}/.well-known/jwks.json`,
      `/${tenant}/oidc/authorize`,
      authorizePath(tenant, client, { prompt: 'none' }),
      `/${tenant}/oidc/userinfo`,
      `/${tenant}/oidc/logout`,
      `/${tenant}/oidc/token`,
      `/${tenant}/api/v1/users`,
      `/${tenant}/api/v1/nothing`,
      `/${tenant}/graphql?query={tenant{id}}`,
      '/health/live',
      '/dev/inbox',
      '/dev/client',
    ]
    const { host } = new URL(app.origin)
    for (const path of paths) {
      const honest = await rawRequest(app.origin, path, { host, ...authorization() })
      const forged = await rawRequest(app.origin, path, { ...POISON, ...authorization() })
      expect(`${JSON.stringify(forged.headers)}${forged.body}`, path).not.toMatch(NOTHING_EVIL)
      const { date: _, 'x-request-id': id = '', vary: _vary, ...headers } = honest.headers
      expect(forged.headers, path).toMatchObject(headers.location ? { location: headers.location } : {})
      expect([path, forged.status]).toEqual([path, honest.status])
      const neutral = (text: string, requestId: unknown) =>
        requestId ? text.replaceAll(String(requestId), 'ID') : text
      expect(neutral(forged.body, forged.headers['x-request-id'])).toBe(neutral(honest.body, id))
    }
  })

  test('a whole sign-in with forged headers: cookies, mail, redirects, tokens and Location', async () => {
    const email = `host@${tenant}.example`
    await makeUser(tenant, email)
    const { host: _host, origin: _origin, ...forged } = POISON
    const cookies = new Map<string, string>()
    const seen: string[] = []
    const go = async (path: string, body?: Record<string, string>) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const answer = await rawRequest(
        app.origin,
        path,
        { ...forged, host: 'evil.example', ...(cookie && { cookie }), ...(body && formType) },
        body && { method: 'POST', body: String(new URLSearchParams(body)) },
      )
      for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        cookies.set(name, value)
      }
      seen.push(JSON.stringify(answer.headers), answer.body)
      return answer
    }
    let answer = await go(authorizePath(tenant, client, { scope: 'openid offline_access' }))
    const handle = String(answer.headers.location)
    expect(handle).toMatch(new RegExp(`^/${tenant}/signin/`))
    answer = await go(handle)
    const csrf = csrfIn(answer.body)
    await go(handle, { csrf, step: 'email', address: email })
    const code = await codeFor(email)
    seen.push(JSON.stringify(listInbox(email)))
    await go(`${handle}/code`, { csrf, step: 'code', code })
    answer = await go(handle)
    expect(answerIn(String(answer.headers.location)).iss).toBe(`http://localhost:3000/${tenant}`)
    const { body: tokens } = await exchange(
      app,
      tenant,
      client,
      answerIn(String(answer.headers.location)).code ?? '',
    )
    const refreshed = await rawRequest(
      app.origin,
      `/${tenant}/oidc/token`,
      {
        ...POISON,
        ...formType,
        authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
      },
      {
        method: 'POST',
        body: `grant_type=refresh_token&refresh_token=${tokens.refresh_token}`,
      },
    )
    const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
    const { access_token: access, id_token: id } = JSON.parse(refreshed.body)
    expect(claimsOf(access).iss).toBe(`http://localhost:3000/${tenant}`)
    expect(claimsOf(id).iss).toBe(`http://localhost:3000/${tenant}`)
    seen.push(JSON.stringify([claimsOf(access), claimsOf(id)]))
    const created = await rawRequest(
      app.origin,
      `/${tenant}/api/v1/users`,
      { ...POISON, ...authorization(), 'content-type': 'application/json' },
      { method: 'POST', body: '{}' },
    )
    expect(created.headers.location).toMatch(new RegExp(`^/${tenant}/api/v1/users/user_`))
    expect(seen.join('\n')).not.toMatch(NOTHING_EVIL)
  })

  test.each(['x:99999', '%%%', '[', '', 'a b', '@', '?', 'evil.example/..', 'localhost:3000#'])(
    'a Host header of %j changes no answer, and is no 500',
    async (host) => {
      for (const path of [
        `/${tenant}/api/v1/users?pageSize=1`,
        `/${tenant}/graphql?query={__typename}`,
        `/${tenant}/.well-known/openid-configuration`,
        `/${tenant}/oidc/logout?client_id=${client.id}`,
        '/health/live',
        '/dev/inbox.json?to=a',
        '/metrics',
      ]) {
        const { status, body } = await rawRequest(app.origin, path, { host, ...authorization() })
        expect([path, status]).toEqual([path, 200])
        expect(body).not.toMatch(/node_modules|at new URL/)
      }
    },
  )

  test.each(['http://evil.example/', '//evil.example/', 'http://localhost:3000/', '\\\\evil\\'])(
    'a request target that begins with %s names nothing here',
    async (prefix) => {
      for (const path of [
        `${tenant}/api/v1/users`,
        `${tenant}/graphql?query={__typename}`,
        `${tenant}/oidc/userinfo`,
      ])
        expect([400, 404]).toContain(
          (await rawRequest(app.origin, `${prefix}${path}`, authorization())).status,
        )
    },
  )

  test('the method cannot be overridden, and TRACE and CONNECT do nothing', async () => {
    const { id } = await createUser(await ctxFor(tenant), {})
    const headers = { ...authorization(), 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' }
    expect(
      (await rawRequest(app.origin, `/${tenant}/api/v1/users/${id}?_method=DELETE`, headers)).status,
    ).toBe(400)
    expect((await rawRequest(app.origin, `/${tenant}/api/v1/users/${id}`, headers)).status).toBe(200)
    for (const method of ['TRACE', 'PROPFIND'])
      for (const path of [
        `/${tenant}/api/v1/users/${id}`,
        `/${tenant}/graphql`,
        `/${tenant}/oidc/userinfo`,
      ]) {
        const { status, body } = await rawRequest(app.origin, path, headers, { method })
        expect([405, 404]).toContain(status)
        expect(body).not.toContain(token)
      }
  })
})

describe('security 43, 49: one spelling of each path', () => {
  const spellings = (path: string, slug: string) => [
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

  test('whatever else looks like it is not there, on all surfaces', async () => {
    for (const path of ['api/v1/users', 'graphql', 'oidc/userinfo', '.well-known/openid-configuration']) {
      const whole = `/${tenant}/${path}`
      const query = path === 'graphql' ? '?query={__typename}' : ''
      expect((await rawRequest(app.origin, whole + query, authorization())).status).not.toBe(404)
      for (const spelling of spellings(whole, tenant)) {
        const target = Buffer.from(spelling).toString('latin1')
        const { status } = await rawRequest(app.origin, target + query, authorization()).catch(() => ({
          status: 404,
        }))
        expect([spelling, status >= 400 && status < 405 && status !== 401]).toEqual([spelling, true])
      }
    }
  })
})

describe('security 62: malformed headers are refused, and never let anybody pass', () => {
  const bytes = (seed: number, length: number) =>
    Array.from({ length }, (_, i) => String.fromCharCode(33 + ((seed * 7919 + i * 104_729) % 223)))
      .join('')
      .replaceAll('\u007f', '~')

  test('whatever bytes stand in Authorization', async () => {
    const values = [
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
      ...Array.from({ length: 30 }, (_, seed) => `Bearer ${bytes(seed, 10 + seed * 7)}`),
      ...Array.from({ length: 10 }, (_, seed) => bytes(seed + 100, 40)),
    ]
    for (const value of values) {
      const headers = { authorization: value }
      for (const [path, refusals] of [
        ['api/v1/users', [401]],
        ['graphql?query={__typename}', [401]],
        ['oidc/userinfo', [401]],
      ] as const) {
        const { status } = await rawRequest(app.origin, `/${tenant}/${path}`, headers)
        expect([path, value, refusals.includes(status as never)]).toEqual([path, value, true])
      }
      const { status } = await rawRequest(
        app.origin,
        `/${tenant}/oidc/token`,
        { ...headers, ...formType },
        { method: 'POST', body: 'grant_type=client_credentials' },
      )
      expect([401, 429]).toContain(status)
    }
  })

  test('a good token behind a bad one passes nowhere', async () => {
    const { port } = new URL(app.origin)
    const statusOf = (path: string, first: string, second: string) =>
      new Promise<number>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () => {
          socket.write(
            `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${first}\r\nAuthorization: ${second}\r\nConnection: close\r\n\r\n`,
          )
        })
        socket.once('data', (chunk) => resolve(Number(String(chunk).slice(9, 12))))
      })
    for (const path of [
      `/${tenant}/api/v1/users`,
      `/${tenant}/graphql?query={__typename}`,
      `/${tenant}/oidc/userinfo`,
    ]) {
      expect(await statusOf(path, 'Bearer x', `Bearer ${token}`)).toBe(401)
    }
  })

  test('a parameter with U+0000 is refused, not a 500', async () => {
    const user = await makeUser(tenant, `nul@${tenant}.example`)
    const by = new Browser(app)
    const { location } = await signInAt(
      by,
      authorizePath(tenant, client, { scope: 'openid offline_access' }),
      user.email ?? '',
    )
    const { body } = await exchange(app, tenant, client, answerIn(location).code ?? '')
    expect(
      await refreshWith(app, tenant, client, body.refresh_token ?? '', { scope: 'openid\u0000' }),
    ).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    for (const path of [
      'users/by-email?email=%00',
      'users/%00',
      'users/by-phone-number?phoneNumber=%00',
      'sessions/%00',
    ])
      expect((await app.rest(tenant, token, 'GET', `/${path}`)).status).toBeLessThan(500)
    for (const cookie of ['vst_sid=\u0001', 'vst_sid', '=', ';;;', 'vst_sid=%00'])
      expect(
        (
          await by
            .fetch(authorizePath(tenant, client), { headers: { cookie } })
            .catch(() => ({ status: 303 }))
        ).status,
      ).toBe(303)
  })
})

describe('security 57: no text starts a line of an event stream', () => {
  test('CR, LF and line separators of names come as JSON, whatever field they are in', async () => {
    const nasty = 'x\r\n\r\nevent: next\ndata: {"data":"forged"}\r\rid: 6\u2028\u2029\u0085end'
    const user = await createUser(await ctxFor(tenant), { name: nasty, userMetadata: { [nasty]: nasty } })
    const query = `subscription { userLockChanged { ... on UserLockEvent { user { name userMetadata } } } }`
    const response = await fetch(`${app.origin}/${tenant}/graphql`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        // Whatever a request brings must not come back as lines of its own either.
        'x-request-id': 'a-request-id-of-ours',
        ...authorization(),
      },
      body: JSON.stringify({ query }),
    })
    const reader = response.body?.getReader()
    opened.push({ close: () => void reader?.cancel() })
    const decoder = new TextDecoder()
    let text = decoder.decode((await reader?.read())?.value)
    await app.rest(tenant, token, 'PATCH', `/users/${user.id}`, { locked: true })
    while (!text.includes('data:')) text += decoder.decode((await reader?.read())?.value, { stream: true })
    expect(text).not.toContain('\r')
    const lines = text.split('\n')
    for (const line of lines) expect(line).toMatch(/^(:|id: [\w-]+|event: next|data: \{[^\r\n]*\}|)$/)
    const data = lines.filter((line) => line.startsWith('data: '))
    expect(data).toHaveLength(1)
    expect(JSON.parse(data[0]?.slice(6) ?? '').data.userLockChanged.user).toEqual({
      name: nasty,
      userMetadata: { [nasty]: nasty },
    })
  })

  test('a forged Last-Event-ID is refused and never told back', async () => {
    for (const id of ['6 evil', '6:evil', 'data: evil', '%0aevil', 'MS4xLjEK']) {
      const stream = await openEventStream(
        `${app.origin}/${tenant}/graphql`,
        token,
        'subscription { events { id } }',
        {},
        { 'last-event-id': id },
      )
      opened.push(stream)
      const event = await stream.next()
      expect(JSON.stringify([event, stream.lastEventId()])).not.toContain(id)
      expect([id, event?.data?.errors?.[0]?.extensions.code]).toEqual([id, 'BAD_USER_INPUT'])
    }
  })
})

describe('security 59: a page of another origin opens no socket', () => {
  const statusOf = (origin: string | undefined, host?: string) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(
        `${app.origin.replace('http', 'ws')}/${tenant}/graphql`,
        'graphql-transport-ws',
        {
          headers: { ...(origin !== undefined && { origin }), ...(host && { host }), cookie: 'vst_sid=x' },
        },
      )
      opened.push({ close: () => socket.terminate() })
      socket.on('open', () => resolve(101))
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
      socket.on('error', () => undefined)
    })

  test.each([
    'https://evil.example',
    'null',
    'http://localhost:3000.evil.example',
    'http://evil-localhost:3000',
    'https://localhost:3000',
    'http://localhost',
    'http://localhost:3001',
    'http://localhost:3000/',
    'http://LOCALHOST:3000',
    'http://127.0.0.1:3000',
    'file://',
  ])('of %s', async (origin) => {
    expect(await statusOf(origin)).toBe(403)
    // Nor when Host agrees with it: only BASE_URL says what is ours.
    if (URL.canParse(origin) && new URL(origin).host)
      expect(await statusOf(origin, new URL(origin).host)).toBe(403)
  })

  test('our own does, and a program without an origin', async () => {
    expect(await statusOf('http://localhost:3000')).toBe(101)
    expect(await statusOf(undefined)).toBe(101)
  })
})
