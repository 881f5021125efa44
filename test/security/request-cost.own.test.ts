import { describe, expect, vi } from 'vitest'
import { type RawAnswer, rawRequest } from '../support/attacks.ts'
import { authorizePath, csrfIn, REDIRECT_URI } from '../support/protocol.ts'
import { hasServices } from '../support/services.ts'
import { test as base, FORM, HEADER, LONG_TEXTS, repeat } from '../support/stalls.ts'

/** The first requests of a kind run code that is not compiled yet. */
const MAX_REQUESTS = 60

/**
 * The processor time of one request, in milliseconds, server and sender together: the least of several requests, until
 * one is below `enough`.
 */
async function measureCpu(work: () => Promise<unknown>, enough: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let count = 0; count < MAX_REQUESTS && best >= enough; count++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1e3)
  }
  return best
}

/** What a request may cost beyond the same request without the text that fills it. */
const EXTRA_LIMIT_MS = 8

/** Expects that a filled request costs little more than a plain one and does not fail. */
async function expectCheap(
  name: string,
  plainMs: number,
  send: () => Promise<{ status: number }>,
): Promise<void> {
  let status = 0
  const limit = plainMs + EXTRA_LIMIT_MS
  const cost = await measureCpu(async () => {
    status = (await send()).status
  }, limit)
  expect([500, 502].includes(status), `${name} is answered with ${status}`).toBe(false)
  expect(cost, `${name} takes ${cost} ms, and ${plainMs} ms without it`).toBeLessThan(limit)
}

/** Texts that are expensive for naive parsers of headers: each is repeated up to the limit. */
const HEADER_UNITS = ['a', 'a,', ' ', ',;=', 'de;q=0.5,', '*/*,', '"\\', 'a=%41;', 'eyJh.', 'https://a.b/']

let sent = 0
/** A network of its own for each request, so that none is rejected by a limit of networks. */
const nextAddress = (): string => {
  sent += 1
  return `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`
}

type Target = {
  path: string
  headers?: Record<string, string>
  /** A form; without one, the request is a GET. */
  form?: Record<string, string>
  body?: string
}

const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

/** Sends a request, by a network of its own unless the headers name one. */
function sendTo(
  origin: string,
  { path, headers, form, body = form && String(new URLSearchParams(form)) }: Target,
  more: Record<string, string> = {},
): Promise<RawAnswer> {
  const all = { 'x-forwarded-for': nextAddress(), ...(form && FORM_TYPE), ...headers, ...more }
  return rawRequest(origin, path, all, body === undefined ? {} : { method: 'POST', body })
}

/** A target with one more parameter. */
function fill({ form, path, ...target }: Target, name: string, value: string): Target {
  if (form) return { ...target, path, form: { ...form, [name]: value } }
  const [bare = '', query = ''] = path.split('?')
  const params = new URLSearchParams(query)
  params.set(name, value)
  return { ...target, path: `${bare}?${params}` }
}

/** The start of a text whose encoded form has at most this many bytes. */
function cutEncoded(text: string, bytes: number): string {
  let cut = text.slice(0, bytes)
  for (let size = encodedLength(cut); size > bytes; size = encodedLength(cut))
    cut = cut.slice(0, Math.floor((cut.length * bytes) / size)).toWellFormed()
  return cut
}

const encodedLength = (text: string): number => new URLSearchParams({ '': text }).toString().length - 1

// Before the imports of src/, which read the environment.
vi.hoisted(() => {
  process.env.TRUST_PROXY = '1'
})

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const REQUEST = { response_type: 'code', scope: 'openid', redirect_uri: REDIRECT_URI }
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }

/** The endpoints that strangers reach, with a request that each accepts or rejects late. */
const test = base.extend(
  'targets',
  { scope: 'file' },
  async ({ tenant, token, native, newBrowser, client }) => {
    const browser = newBrowser()
    const start = await browser.open(authorizePath(tenant, native))
    const csrf = csrfIn(await start.response.text())
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const path = (rest: string, query?: Record<string, string>) =>
      `/${tenant}/${rest}${query ? `?${new URLSearchParams(query)}` : ''}`
    const id = { client_id: native.id }
    const basic = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`
    const bearer = { authorization: `Bearer ${token}` }
    const grant = (grant_type: string, more = {}) => ({ ...id, grant_type, ...more })
    return {
      authorize: { path: path('oidc/authorize', { ...id, ...REQUEST, ...PKCE }) },
      'authorize by form': { path: path('oidc/authorize'), form: { ...id, ...REQUEST, ...PKCE } },
      'pushed request': {
        path: path('oidc/par'),
        headers: { authorization: basic },
        form: { client_id: client.id, ...REQUEST, ...PKCE },
      },
      logout: { path: path('oidc/logout', id) },
      'logout by form': { path: path('oidc/logout'), form: id },
      initiate: { path: path('oidc/initiate', id) },
      'token for a code': {
        path: path('oidc/token'),
        form: grant('authorization_code', {
          code: 'x',
          redirect_uri: REDIRECT_URI,
          code_verifier: CHALLENGE,
        }),
      },
      'token by refresh': { path: path('oidc/token'), form: grant('refresh_token', { refresh_token: 'x' }) },
      'token by device': {
        path: path('oidc/token'),
        form: grant('urn:ietf:params:oauth:grant-type:device_code', { device_code: 'x' }),
      },
      'token by assertion': {
        path: path('oidc/token'),
        form: {
          grant_type: 'client_credentials',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        },
      },
      introspection: {
        path: path('oidc/introspect'),
        headers: { authorization: basic },
        form: { token: 'x' },
      },
      revocation: { path: path('oidc/revoke'), form: { ...id, token: 'x' } },
      'device authorization': { path: path('oidc/device_authorization'), form: id },
      'user code': { path: path('device') },
      userinfo: { path: path('oidc/userinfo') },
      'sign-in': { path: start.path, headers: { cookie } },
      'address of a sign-in': { path: start.path, headers: { cookie }, form: { csrf, step: 'email' } },
      'passkey of a sign-in': { path: start.path, headers: { cookie }, form: { csrf, step: 'passkey' } },
      language: { path: path('language'), form: { language: 'de' } },
      callback: { path: path('oidc/callback/none') },
      invitation: { path: path('invitation') },
      enrollment: { path: path('enroll') },
      account: { path: path('account') },
      discovery: { path: path('.well-known/openid-configuration') },
      graphql: {
        path: path('graphql'),
        headers: { 'content-type': 'application/json' },
        body: '{"query":"{ __typename }"}',
      },
      users: { path: path('api/v1/users'), headers: bearer },
      events: { path: path('api/v1/events'), headers: bearer },
      'new user': {
        path: path('api/v1/users'),
        headers: { 'content-type': 'application/json', ...bearer },
        body: '{}',
      },
      'unknown page': { path: '/x/y' },
    } satisfies Record<string, Target>
  },
)

const measure = (origin: string, target: Target): Promise<number> =>
  measureCpu(() => sendTo(origin, target), 0)

const HEADERS = [
  ...['accept', 'accept-encoding', 'accept-language', 'authorization', 'content-encoding', 'content-type'],
  ...[
    'dpop',
    'forwarded',
    'idempotency-key',
    'if-match',
    'if-modified-since',
    'if-none-match',
    'origin',
    'prefer',
  ],
  ...['range', 'ratelimit', 'referer', 'traceparent', 'user-agent', 'x-forwarded-for', 'x-forwarded-host'],
  ...['x-request-id', 'access-control-request-headers', 'sec-fetch-site'],
]
const COOKIES = ['vst_sid=;', 'vst_ix=;', 'vst_lang=%41;', 'vst_acc_0123456789ab=;', 'vst_kb_0123456789ab=;']
const SCHEMES = ['Basic ', 'Bearer ', 'DPoP ']

describe.runIf(hasServices)('a header that is filled to its limit', () => {
  for (const name of [
    'authorize',
    'token by refresh',
    'sign-in',
    'users',
    'new user',
    'unknown page',
  ] as const)
    test(`takes little processor time: ${name}`, { timeout: 120_000 }, async ({ app, targets, warm: _ }) => {
      const target: Target = targets[name]
      const plain = await measure(app.origin, target)
      const check = (header: string, value: string) =>
        expectCheap(`${header}: ${value.slice(0, 40)}`, plain, () =>
          sendTo(app.origin, target, { [header]: value }),
        )
      for (const header of HEADERS) for (const unit of HEADER_UNITS) await check(header, repeat(unit, HEADER))
      for (const unit of [...HEADER_UNITS, ...COOKIES]) await check('cookie', repeat(unit, HEADER))
      for (const scheme of SCHEMES) await check('authorization', scheme + repeat('eyJh.', HEADER))
    })
})

/** Different names: `kind` with a number in hexadecimal digits. */
const listCookies = (kind: string, bytes: number): string => {
  let header = ''
  for (let number = 0; header.length < bytes; number++)
    header += `${kind}_${number.toString(16).padStart(12, '0')}=${'x'.repeat(number % 2 ? 43 : 1)}; `
  return header
}

describe.runIf(hasServices)('many cookies with names of this server', () => {
  test('take little processor time, and twice as many take at most about twice as much', {
    timeout: 60_000,
  }, async ({ app, targets, warm: _ }) => {
    for (const name of ['authorize', 'logout', 'sign-in', 'account'] as const) {
      const target: Target = targets[name]
      const plain = await measure(app.origin, target)
      for (const kind of ['vst_acc', 'vst_kb', 'vst']) {
        const send = (bytes: number) => () => {
          const cookie = `${target.headers?.cookie ?? ''}; ${listCookies(kind, bytes)}`
          return sendTo(app.origin, target, { cookie })
        }
        await expectCheap(`${name}: ${kind}`, plain, send(HEADER))
        const [half, whole] = [await measureCpu(send(HEADER / 2), 0), await measureCpu(send(HEADER), 0)]
        expect(whole, `${name}: ${kind}`).toBeLessThan(2.5 * half + 0.5)
      }
    }
  })
})

const PARAMETERS: Partial<Record<string, string[]>> = {
  authorize: [
    ...[
      'scope',
      'resource',
      'claims',
      'ui_locales',
      'acr_values',
      'prompt',
      'login_hint',
      'id_token_hint',
      'state',
    ],
    ...[
      'redirect_uri',
      'request_uri',
      'request',
      'code_challenge',
      'code_challenge_method',
      'nonce',
      'max_age',
    ],
    ...['display', 'response_type', 'response_mode', 'client_id', 'dpop_jkt', 'unknown'],
  ],
  logout: ['id_token_hint', 'logout_hint', 'post_logout_redirect_uri', 'state', 'ui_locales', 'client_id'],
  'logout by form': ['csrf', 'account', 'id_token_hint', 'state'],
  initiate: ['iss', 'login_hint', 'target_link_uri', 'client_id'],
  'token for a code': ['code', 'redirect_uri', 'code_verifier', 'grant_type', 'client_id', 'client_secret'],
  'token by refresh': ['refresh_token', 'scope', 'resource'],
  'token by device': ['device_code'],
  'token by assertion': ['client_assertion', 'scope', 'resource'],
  introspection: ['token', 'token_type_hint'],
  revocation: ['token', 'token_type_hint'],
  'device authorization': ['scope', 'resource', 'acr_values'],
  'user code': ['user_code'],
  'sign-in': ['idp', 'answer', 'ui_locales'],
  'address of a sign-in': ['address', 'code', 'csrf', 'step', 'idp'],
  'passkey of a sign-in': ['response', 'credential', 'assertion'],
  language: ['language', 'return_to'],
  callback: ['state', 'code', 'error', 'error_description', 'answer', 'iss'],
  invitation: ['token', 'ui_locales'],
  enrollment: ['token', 'next', 'next_client'],
  users: ['filter', 'search', 'after', 'before', 'first', 'orderBy', 'page', 'email'],
  events: ['after', 'type', 'types', 'userId', 'filter'],
}
PARAMETERS['pushed request'] = PARAMETERS.authorize

const join = (count: number, text: (number: number) => string): string =>
  Array.from({ length: Math.floor(count) }, (_, number) => text(number)).join()
/** Texts with a structure that some parameters have, of about this many bytes when they are encoded. */
const listStructured = (bytes: number): [name: string, text: string][] => [
  ['claims', `{"userinfo":{${join(bytes / 24, (number) => `"c${number}":null`)}}}`],
  ['values of a claim', `{"id_token":{"acr":{"values":[${join(bytes / 16, (number) => `"${number}"`)}]}}}`],
  ['nested JSON', repeat('{"a":', bytes)],
  ['a JWT', `eyJhbGciOiJSUzI1NiJ9.eyJ${repeat('A', bytes - 200)}.AAAA`],
  ['a JWT of many parts', repeat('eyJ.', bytes)],
  ['a pushed request', `urn:ietf:params:oauth:request_uri:${repeat('a', bytes - 200)}`],
  ['URIs', repeat('https://a.b ', bytes)],
  ['scopes', repeat('openid email ', bytes)],
  ['U+0000', repeat('\0', bytes)],
  ['pairs of surrogates', repeat('😀', bytes)],
  ['parentheses', repeat('(', bytes)],
  ['conditions', repeat('email eq "a" and ', bytes)],
]

describe.runIf(hasServices)('a parameter that is filled to its limit', () => {
  for (const [name, parameters = []] of Object.entries(PARAMETERS))
    test(`takes little processor time: ${name}`, { timeout: 180_000 }, async ({ app, targets, warm: _ }) => {
      const target = (targets as Record<string, Target>)[name] as Target
      const limit = (target.form ? FORM : HEADER) - 1500
      const plain = await measure(app.origin, target)
      for (const parameter of parameters)
        for (const [what, text] of [
          ...LONG_TEXTS.filter((_, index) => index % 3 === 0),
          ...listStructured(limit),
        ]) {
          const filled = fill(target, parameter, cutEncoded(text, limit))
          await expectCheap(`${parameter}: ${what}`, plain, () => sendTo(app.origin, filled))
        }
    })

  test('takes little processor time: resource and scope, repeated', async ({ app, targets, warm: _ }) => {
    for (const name of [
      'authorize by form',
      'pushed request',
      'token by refresh',
      'device authorization',
    ] as const) {
      const { form, ...target } = targets[name]
      const plain = await measure(app.origin, targets[name])
      for (const unit of [
        'resource=https%3A%2F%2Fa.b',
        'resource=',
        'scope=a',
        'resource=https%3A%2F%2Fa.b%23',
      ])
        await expectCheap(`${name}: ${unit}`, plain, () =>
          sendTo(
            app.origin,
            { ...target, body: `${new URLSearchParams(form)}${repeat(`&${unit}`, FORM - 1500)}` },
            { 'content-type': 'application/x-www-form-urlencoded' },
          ),
        )
    }
  })
})
