import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { decide, pollWith, startDevice } from '../support/device-flow.ts'
import { test as base } from '../support/fixtures.ts'
import { startMailServer } from '../support/mail-server.ts'
import { PageBrowser } from '../support/page-browser.ts'
import { operator, operatorToken, type ServerProcess, startServer } from '../support/process.ts'
import {
  answerIn,
  authorizePath,
  csrfIn,
  exchange,
  REDIRECT_URI,
  refreshWith,
  tokenRequest,
  userinfoOf,
  VERIFIER,
} from '../support/protocol.ts'
import { openEventStream, openSocket } from '../support/streams.ts'

/**
 * A server process that logs everything, with a mail server and an SMS gateway that both fail for some
 * messages.
 */
type LoggingServer = {
  server: ServerProcess
  baseUrl: string
  encryptionKey: string
  smsToken: string
  /** The texts of mails and of text messages, in the order in which they arrived. */
  mails: string[]
  texts: string[]
  close: () => Promise<void>
}

async function startLoggingServer(): Promise<LoggingServer> {
  const [mails, texts]: [string[], string[]] = [[], []]
  const mailServer = await startMailServer(({ text = '', to }) => {
    mails.push(text)
    // A mail to `bounce` is rejected with a response that quotes it.
    if (to?.[0]?.address?.startsWith('bounce')) throw new Error(`550 no: ${text}`)
  })
  const gateway = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      texts.push(JSON.parse(body).body)
      // Every second message fails, and the response repeats it.
      response.writeHead(texts.length % 2 === 0 ? 500 : 200).end(body)
    })
  })
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-logs-'))
  const baseUrl = 'https://id.example.com'
  const [encryptionKey, smsToken] = [32, 24].map((size) => randomBytes(size).toString('base64url')) as [
    string,
    string,
  ]
  const server = await startServer({
    NODE_ENV: 'development',
    LOG_LEVEL: 'trace',
    LOG_REQUESTS: '1',
    BASE_URL: baseUrl,
    DATA_DIR: directory,
    DATABASE_URL: process.env.DATABASE_URL,
    REDIS_URL: process.env.REDIS_URL,
    REDIS_PREFIX: process.env.REDIS_PREFIX,
    ENCRYPTION_KEY: encryptionKey,
    SMTP_URL: mailServer.url,
    SMS_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/send`,
    SMS_TOKEN: smsToken,
  })
  return {
    server,
    baseUrl,
    encryptionKey,
    smsToken,
    mails,
    texts,
    close: async () => {
      await server.stop()
      await mailServer.close()
      gateway.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const tenant = 'acme'
const SCOPES =
  'users:read users:write sessions:read sessions:write passcodes:write clients:write events:read api_keys:write'

const codeIn = (message: string | undefined) => /\b\d{6}\b/.exec(message ?? '')?.[0] ?? ''

const test = base
  .extend('logging', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const logging = await startLoggingServer()
    onCleanup(logging.close)
    return logging
  })
  /** The secrets that the server has received or issued, by name. */
  .extend('secrets', { scope: 'file' }, async (): Promise<Record<string, string>> => ({}))
  .extend('keep', { scope: 'file' }, ({ secrets }) => (name: string, secret: string | undefined) => {
    expect(secret, name).toMatch(/.{6}/)
    secrets[name] = secret as string
    return secret as string
  })
  .extend(
    'call',
    { scope: 'file' },
    ({ logging: { server } }) =>
      async (token: string, method: string, path: string, body?: unknown, slug = tenant) => {
        const response = await fetch(`${server.origin}/${slug}/api/v1${path}`, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          body: body === undefined ? undefined : JSON.stringify(body),
        })
        return { status: response.status, body: (await response.json()) as Record<string, string> }
      },
  )
  /** A tenant with a client and a user, and the token that manages it. */
  .extend('registered', { scope: 'file' }, async ({ logging: { server, baseUrl }, keep, call }) => {
    const system = keep('operator token', await operatorToken(server, baseUrl, 'system', 'tenants:write'))
    await call(system, 'POST', '/tenants', { slug: tenant }, 'system')
    const token = keep('management token', await operatorToken(server, baseUrl, tenant, SCOPES))
    const { body } = await call(token, 'POST', '/clients', {
      name: 'App',
      appType: 'web',
      type: 'login',
      callbacks: [REDIRECT_URI],
      requireConsent: true,
    })
    await call(token, 'POST', '/users', { email: 'ada@example.com', emailVerified: true })
    return { token, client: { id: body.id ?? '', secret: keep('client secret', body.secret) } }
  })
  /** Signs in with a wrong code first, exchanges a code with a wrong verifier first, and refreshes. */
  .extend('signedIn', { scope: 'file' }, async ({ logging, keep, registered }) => {
    const server = { ...logging.server, close: logging.server.kill }
    const { client } = registered
    const browser = new PageBrowser(server.origin)
    const scope = 'openid profile email offline_access session'
    const start = await browser.open(
      authorizePath(tenant, client, { scope, nonce: 'n-0S6_WzA2Mj', state: 'af0ifjsldkj1' }),
    )
    keep('handle', start.path.split('/').at(-1))
    const csrf = keep('form token', csrfIn(await start.response.text()))
    await browser.post(start.path, { csrf, step: 'email', address: 'ada@example.com' })
    while (logging.mails.length < 1) await new Promise((resolve) => setTimeout(resolve, 20))
    const code = keep('passcode', codeIn(logging.mails[0]))
    await browser.post(`${start.path}/code`, { csrf, step: 'code', code: code.split('').reverse().join('') })
    await browser.post(`${start.path}/code`, { csrf, step: 'code', code })
    // Over https, each cookie of the response arrives beside Strict-Transport-Security.
    expect([...browser.cookies.keys()]).toContain(`__Host-vst_sid_${tenant}`)
    for (const [name, value] of browser.cookies) keep(`cookie ${name}`, value)
    const asked = { path: `${start.path}/consent`, html: '' }
    asked.html = await (await browser.fetch(asked.path)).text()
    keep('form token of a decision', csrfIn(asked.html))
    const consented = await browser.submit(asked, { step: 'allow' })
    const authorizationCode = keep('code', answerIn(consented.location).code)
    await exchange(server, tenant, client, authorizationCode, { code_verifier: `${VERIFIER}x` })
    const { body: tokens } = await exchange(server, tenant, client, authorizationCode)
    for (const name of ['access_token', 'id_token', 'refresh_token', 'session_token'])
      keep(name, tokens[name])
    keep('PKCE verifier', VERIFIER)
    await userinfoOf(server, tenant, tokens.access_token ?? '')
    const { body: next } = await refreshWith(server, tenant, client, tokens.refresh_token ?? '')
    keep('next refresh token', next.refresh_token)
    keep('next access token', next.access_token)

    return { browser, tokens }
  })

describe('the log of a process', () => {
  test('contains no secret of a sign-in, of its errors or of requests that misuse the secrets', {
    timeout: 150_000,
  }, async ({ logging, secrets, keep, call, registered, signedIn }) => {
    const server = { ...logging.server, close: logging.server.kill }
    const { client, token } = registered
    const { browser, tokens } = signedIn
    keep('operator secret', operator.secret)
    keep('encryption key', logging.encryptionKey)
    keep('gateway token', logging.smsToken)

    // The device grant.
    const { body: device } = await startDevice(server, tenant, client)
    const deviceCode = keep('device code', device.device_code)
    const userCode = keep('user code', device.user_code)
    await browser.fetch(`/${tenant}/device?user_code=${userCode}`)
    await decide(browser, tenant, userCode, 'allow')
    for (let i = 0; i < 2; i++) await pollWith(server, tenant, client, deviceCode)

    // The management API.
    const rotated = await call(token, 'POST', '/sessions/authenticate', {
      sessionToken: tokens.session_token,
      clientId: client.id,
      rotateSessionToken: true,
    })
    keep('rotated session token', rotated.body.sessionToken)
    for (let i = 0; i < 2; i++)
      await call(token, 'POST', '/passcodes/sms', { to: `+4179111223${i}`, createUser: true })
    keep('text passcode', codeIn(logging.texts[0]))
    keep('text passcode that failed', codeIn(logging.texts[1]))
    await call(token, 'POST', '/passcodes/email', { to: 'bounce@example.com', createUser: true })
    keep('passcode that bounced', codeIn(logging.mails.at(-1)))
    await call(token, 'POST', '/passcodes/authenticate', {
      to: '+41791112230',
      code: codeIn(logging.texts[0]),
    })

    for (let i = 0; i < 2; i++) {
      const { body: made } = await call(token, 'POST', '/api-keys', {
        name: 'Export',
        scopes: ['users:read'],
      })
      await call(keep(`API key ${i}`, made.key), 'GET', '/users')
    }

    // Streams with the token where clients put it.
    const url = `${server.origin}/${tenant}/graphql`
    const stream = await openEventStream(url, token, 'subscription { events { id } }')
    const socket = openSocket(url.replace('http', 'ws'), token)
    await new Promise<void>((resolve) => socket.on('connected', () => resolve()))
    await socket.dispose()
    stream.close()

    // Each secret where it does not belong, and in requests that are rejected.
    for (const secret of Object.values(secrets)) {
      const text = encodeURIComponent(secret)
      await fetch(
        `${server.origin}/${tenant}/oidc/authorize?client_id=${text}&redirect_uri=${text}&state=${text}`,
      )
      await fetch(`${server.origin}/${tenant}/signin/${text}`)
      await fetch(`${server.origin}/${tenant}/device?user_code=${text}`)
      await pollWith(server, tenant, client, secret)
      await fetch(`${server.origin}/${tenant}/api/v1/users/${text}?token=${text}`, {
        headers: { authorization: `Bearer ${secret}x` },
      })
      await fetch(`${url}?query=${text}&access_token=${text}`)
      await fetch(`${server.origin}/${text}/%ff%00/${text}`)
      await tokenRequest(server, tenant, client, {
        grant_type: 'authorization_code',
        code: secret,
        redirect_uri: secret,
        code_verifier: secret,
      })
      await tokenRequest(server, tenant, null, {
        grant_type: secret,
        client_id: client.id,
        client_secret: secret,
      })
      await refreshWith(server, tenant, client, secret, { scope: `${secret}\u0000` })
      await call(token, 'POST', '/sessions/authenticate', {
        sessionToken: `${secret}\u0000`,
        [secret]: secret,
      })
      await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({
          query: `mutation ($t: Int) { authenticateSession(input: { sessionToken: "${secret}" }) { __typename } }`,
          variables: { t: secret },
        }),
      })
      await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: `{"query":"${secret}`,
      })
    }
    expect(await server.stop()).toBe(0)

    const printed = server.output()
    // Control: the log contains the deliveries that failed.
    expect(printed).toContain('could not be delivered')
    expect(printed).toContain('"level":"info"')
    const found = Object.entries(secrets).filter(
      ([, secret]) =>
        (/^\d{6}$/.test(secret)
          ? new RegExp(`(?<!\\d)${secret}(?!\\d)`).test(printed)
          : printed.includes(secret)) ||
        printed.includes(encodeURIComponent(secret)) ||
        // No part of a token.
        secret.split('.').some((part) => part.length > 30 && printed.includes(part)),
    )
    expect(found.map(([name]) => name)).toEqual([])
    expect(Object.keys(secrets).length).toBeGreaterThanOrEqual(20)
  })
})
