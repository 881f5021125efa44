import { request } from 'node:http'
import { describe, expect } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { Answer } from '../../../src/http/node-response/answer.ts'
import { ORIGIN } from '../../support/cors.ts'
import { createProver, MACHINE } from '../../support/dpop.ts'
import { authorizePath, basic, tokenRequest } from '../../support/protocol.ts'
import { test as base } from '../../support/signed-in.ts'
import { testResponses } from '../../support/test-ways.ts'

type SentRequest = { method: string; path: string; headers?: Record<string, string>; body?: string }

type Sent = { status: number | undefined; reason: string | undefined; fields: string[]; text: string }

/** Fields that each response has a value of its own for. */
const OWN_FIELDS = new Set(['date', 'x-request-id', 'ratelimit-remaining', 'ratelimit-reset'])
/** Parts of bodies and headers that differ between two requests: tokens, codes, handles, keys of cookies, nonces. */
const hideRandom = (text: string): string =>
  text
    .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'JWT')
    .replace(/grant_[0-9a-z]{26}\.[\w-]+/g, 'CODE')
    .replace(/[\w-]{43,}/g, '…')
    .replace(/\b(vst_ix_[\w-]+_)[0-9a-f]{12}\b/g, '$1…')
    .replace(/\b(code=|vst_\w+=|signin\/|nonce[="]*)[\w-]+/g, '$1…')
    .replace(/"requestId":"[^"]*"/g, '"requestId":"…"')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,27}/g, 'UUID')

/** What a server sends: status line, header fields by name, and body, without what differs by chance. */
const sendTo = (origin: string, { method, path, headers, body }: SentRequest) =>
  new Promise<Sent>((resolve, reject) => {
    const sent = request(`${origin}${path}`, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const pairs = response.rawHeaders.flatMap((name, index, all) =>
          index % 2 === 0 ? [[name.toLowerCase(), all[index + 1] ?? '']] : [],
        ) as [string, string][]
        const text = hideRandom(Buffer.concat(chunks).toString())
        // A JWT has one length or another by what is in it.
        const fields = pairs.map(([name, value]) =>
          OWN_FIELDS.has(name) || (name === 'content-length' && text.includes('JWT'))
            ? name
            : `${name}: ${hideRandom(value)}`,
        )
        resolve({ status: response.statusCode, reason: response.statusMessage, fields: fields.sort(), text })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** `test` with the app, the same app that writes responses the other way, and requests to the hot endpoints. */
const test = base
  .extend('otherOrigin', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const other = await createApp({ responses: testResponses === 'node' ? 'web' : 'node' })
    onCleanup(other.close)
    return `http://127.0.0.1:${(await other.listen(0)).port}`
  })
  .extend('machine', { scope: 'file' }, ({ newClient }) => newClient({ ...MACHINE, webOrigins: [ORIGIN] }))
  .extend('requests', { scope: 'file' }, async ({ app, tenant, machine, client, spa, token, signedIn }) => {
    const prover = await createProver(tenant)
    const authorization = basic(machine)
    const post = (path: string, body: string, headers: Record<string, string> = {}): SentRequest => ({
      method: 'POST',
      path: `/${tenant}${path}`,
      headers: { ...FORM, authorization, ...headers },
      body,
    })
    const ask = (headers?: Record<string, string>, more = '') =>
      post('/oidc/token', `grant_type=client_credentials${more}`, headers)
    const { body } = await tokenRequest(app, tenant, machine, { grant_type: 'client_credentials' })
    const cookie = [...signedIn.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const authorize = (
      more: Record<string, string | null>,
      headers: Record<string, string> = { cookie },
    ) => ({
      method: 'GET',
      path: authorizePath(tenant, client, more),
      headers,
    })
    const userinfo = (method: string, headers: Record<string, string> = {}) => ({
      method,
      path: `/${tenant}/oidc/userinfo`,
      headers,
    })
    const session = (sent: string, headers: Record<string, string> = {}): SentRequest => ({
      method: 'POST',
      path: `/${tenant}/api/v1/sessions/authenticate`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: sent,
    })
    return (): Promise<Record<string, SentRequest>> => buildRequests()
    /** A proof is used once, so that each app gets requests of its own. */
    async function buildRequests(): Promise<Record<string, SentRequest>> {
      return {
        'a token': ask(),
        'a token for a page': ask({ origin: ORIGIN }),
        'a token for a page of another origin': ask({ origin: 'https://other.example.net' }),
        'a bound token': ask({ dpop: await prover.prove() }),
        'a wrong proof': ask({ dpop: await prover.prove({ htm: 'GET' }) }),
        'a proof without nonce': ask({ dpop: await prover.prove({ nonce: undefined }) }),
        'a wrong secret': ask({ authorization: basic({ ...machine, secret: 'wrong' }) }),
        'a repeated header': {
          ...ask(),
          headers: { ...FORM, authorization: `${authorization}, ${authorization}` },
        },
        'a repeated parameter': ask({}, '&scope=a&scope=b'),
        'a JSON body': ask({ 'content-type': 'application/json' }),
        'a long body': ask({}, `&scope=${'a'.repeat(70_000)}`),
        'a long body in chunks': ask({ 'transfer-encoding': 'chunked' }, `&scope=${'a'.repeat(70_000)}`),
        'an unknown tenant': { ...ask(), path: '/no-such-tenant/oidc/token' },
        'another spelling': { ...ask(), path: `/${tenant}//oidc/token` },
        'another method': { ...userinfo('PUT'), path: `/${tenant}/oidc/token` },
        preflight: { ...userinfo('OPTIONS', { origin: ORIGIN }), path: `/${tenant}/oidc/token` },
        introspection: post('/oidc/introspect', `token=${body.access_token}`),
        'introspection of nothing': post('/oidc/introspect', ''),
        revocation: post('/oidc/revoke', 'token=unknown'),
        'userinfo of a machine': userinfo('GET', { authorization: `Bearer ${body.access_token}` }),
        'userinfo without a token': userinfo('GET'),
        'userinfo, headers only': userinfo('HEAD'),
        'a silent sign-in': authorize({ prompt: 'none' }),
        'a silent sign-in without a session': authorize({ prompt: 'none' }, {}),
        'a sign-in': authorize({}, {}),
        'an unknown redirect_uri': authorize({ redirect_uri: 'https://evil.example.net' }),
        'a form post': authorize({ prompt: 'none', response_mode: 'form_post' }),
        'a session': session('{"sessionToken":"x"}'),
        'a session without a token': session('{"sessionToken":"x"}', { authorization: 'Bearer x' }),
        'a session without JSON': session('x'),
        'a session of nothing': session('{}'),
        'a client without secret': {
          ...ask(),
          headers: FORM,
          body: `grant_type=client_credentials&client_id=${spa.id}`,
        },
      }
    }
  })

describe('the two ways to write a response', () => {
  test('send the same status, headers and body', async ({ app, otherOrigin, requests }) => {
    const others = await requests()
    const statuses = new Set()
    for (const [name, request] of Object.entries(await requests())) {
      const sent = await sendTo(app.origin, request)
      expect({ name, ...sent }).toEqual({ name, ...(await sendTo(otherOrigin, others[name] ?? request)) })
      statuses.add(sent.status)
    }
    expect([...statuses].sort()).toEqual([200, 204, 303, 400, 401, 404, 405, 413])
  })
})

describe('An answer', () => {
  const create = () => new Answer('{}', 200, [['content-type', 'application/json']])

  test('is a web response whose headers can be read and changed', async () => {
    const answer = create()
    answer.addHeader('set-cookie', 'a=1')
    expect(answer).toBeInstanceOf(Response)
    expect([...answer.headers]).toEqual([
      ['content-type', 'application/json'],
      ['set-cookie', 'a=1'],
    ])
    answer.headers.set('x-a', '1')
    answer.addHeader('set-cookie', 'b=2')
    expect([answer.headers.getSetCookie(), answer.headers.get('x-a')]).toEqual([['a=1', 'b=2'], '1'])
    expect(await answer.json()).toEqual({})
  })
})
