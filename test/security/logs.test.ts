import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decide, pollWith, startDevice } from '../oidc/device-flow.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  csrfIn,
  exchange,
  REDIRECT_URI,
  refreshWith,
  tokenRequest,
  userinfoOf,
  VERIFIER,
} from '../oidc/provider.ts'
import { operator, operatorToken, type ServerProcess, startServer } from '../support/process.ts'
import { openEventStream, openSocket } from '../support/streams.ts'

const BASE_URL = 'https://id.example.com'
const SMS_TOKEN = randomBytes(24).toString('base64url')
const ENCRYPTION_KEY = randomBytes(32).toString('base64url')
const tenant = 'acme'

let directory: string
let server: ServerProcess
let smtp: SMTPServer
const mails: string[] = []
const texts: string[] = []
const gateway = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    texts.push(JSON.parse(body).body)
    // Every second one fails: what is logged of it must not hold what was in it.
    response.writeHead(texts.length % 2 === 0 ? 500 : 200).end(body)
  })
})

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vestibule-logs-'))
  smtp = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const mail = await PostalMime.parse(Buffer.concat(chunks))
        mails.push(mail.text ?? '')
        // It is taken down and refused all the same, with an answer that quotes it.
        if (mail.to?.[0]?.address?.startsWith('bounce')) done(new Error(`550 no: ${mail.text}`))
        else done()
      })
    },
  })
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  server = await startServer({
    NODE_ENV: 'development',
    LOG_LEVEL: 'trace',
    BASE_URL,
    DATA_DIR: directory,
    DATABASE_URL: process.env.DATABASE_URL,
    REDIS_URL: process.env.REDIS_URL,
    ENCRYPTION_KEY,
    SMTP_URL: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
    SMS_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/send`,
    SMS_TOKEN,
  })
}, 60_000)

afterAll(async () => {
  await server?.stop()
  smtp?.close(() => undefined)
  gateway.close()
  await rm(directory, { recursive: true, force: true })
})

const codeIn = (message: string | undefined) => /\b\d{6}\b/.exec(message ?? '')?.[0] ?? ''

test('security 65: a whole sign-in, its mistakes and its attacks leave no secret in what the process prints', async () => {
  const provider = { origin: server.origin, close: server.kill }
  const secrets: Record<string, string> = {}
  const keep = (name: string, secret: string | undefined) => {
    expect(secret, name).toMatch(/.{6}/)
    secrets[name] = secret as string
    return secret as string
  }
  keep('operator secret', operator.secret)
  keep('encryption key', ENCRYPTION_KEY)
  keep('gateway token', SMS_TOKEN)
  const system = keep('operator token', await operatorToken(server, BASE_URL, 'system', 'tenants:write'))
  const call = async (token: string, method: string, path: string, body?: unknown, slug = tenant) => {
    const response = await fetch(`${server.origin}/${slug}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  await call(system, 'POST', '/tenants', { slug: tenant }, 'system')
  const scopes =
    'users:read users:write sessions:read sessions:write passcodes:write clients:write events:read'
  const token = keep('management token', await operatorToken(server, BASE_URL, tenant, scopes))
  const registered = await call(token, 'POST', '/clients', {
    name: 'App',
    appType: 'web',
    type: 'login',
    callbacks: [REDIRECT_URI],
    requireConsent: true,
  })
  const client = { id: registered.body.id ?? '', secret: keep('client secret', registered.body.secret) }
  await call(token, 'POST', '/users', { email: 'ada@example.com', emailVerified: true })

  // A person signs in, with a wrong code first.
  const browser = new Browser(provider)
  const scope = 'openid profile email offline_access session'
  const start = await browser.open(
    authorizePath(tenant, client, { scope, nonce: 'n-0S6_WzA2Mj', state: 'af0ifjsldkj1' }),
  )
  keep('handle', start.path.split('/').at(-1))
  const csrf = keep('form token', csrfIn(await start.response.text()))
  await browser.post(start.path, { csrf, step: 'email', address: 'ada@example.com' })
  while (mails.length < 1) await new Promise((resolve) => setTimeout(resolve, 20))
  const code = keep('passcode', codeIn(mails[0]))
  await browser.post(`${start.path}/code`, { csrf, step: 'code', code: code.split('').reverse().join('') })
  await browser.post(`${start.path}/code`, { csrf, step: 'code', code })
  for (const [name, value] of browser.cookies) keep(`cookie ${name}`, value)
  const asked = { path: `${start.path}/consent`, html: '' }
  asked.html = await (await browser.fetch(asked.path)).text()
  keep('form token of a decision', csrfIn(asked.html))
  const consented = await browser.submit(asked, { step: 'allow' })
  const authorizationCode = keep('code', answerIn(consented.location).code)
  await exchange(provider, tenant, client, authorizationCode, { code_verifier: `${VERIFIER}x` })
  const { body: tokens } = await exchange(provider, tenant, client, authorizationCode)
  for (const name of ['access_token', 'id_token', 'refresh_token', 'session_token']) keep(name, tokens[name])
  keep('PKCE verifier', VERIFIER)
  await userinfoOf(provider, tenant, tokens.access_token ?? '')
  const { body: next } = await refreshWith(provider, tenant, client, tokens.refresh_token ?? '')
  keep('next refresh token', next.refresh_token)
  keep('next access token', next.access_token)

  // A device, whose code stands in an address, too.
  const { body: device } = await startDevice(provider, tenant, client)
  const deviceCode = keep('device code', device.device_code)
  const userCode = keep('user code', device.user_code)
  await browser.fetch(`/${tenant}/device?user_code=${userCode}`)
  await decide(browser, tenant, userCode, 'allow')
  for (let i = 0; i < 2; i++) await pollWith(provider, tenant, client, deviceCode)

  // Sessions and passcodes through the management surface.
  const rotated = await call(token, 'POST', '/sessions/authenticate', {
    sessionToken: tokens.session_token,
    clientId: client.id,
    rotateSessionToken: true,
  })
  keep('rotated session token', rotated.body.sessionToken)
  for (let i = 0; i < 2; i++)
    await call(token, 'POST', '/passcodes/sms', { to: `+4179111223${i}`, createUser: true })
  keep('text passcode', codeIn(texts[0]))
  keep('text passcode that failed', codeIn(texts[1]))
  await call(token, 'POST', '/passcodes/email', { to: 'bounce@example.com', createUser: true })
  keep('passcode that bounced', codeIn(mails.at(-1)))
  await call(token, 'POST', '/passcodes/authenticate', { to: '+41791112230', code: codeIn(texts[0]) })

  // Streams with the token where clients put it.
  const url = `${server.origin}/${tenant}/graphql`
  const stream = await openEventStream(url, token, 'subscription { events { id } }')
  const socket = openSocket(url.replace('http', 'ws'), token)
  await new Promise<void>((resolve) => socket.on('connected', () => resolve()))
  await socket.dispose()
  stream.close()

  // Everything once more where it does not belong, broken, and in places that make errors.
  for (const [, secret] of Object.entries(secrets)) {
    const text = encodeURIComponent(secret)
    await fetch(
      `${server.origin}/${tenant}/oidc/authorize?client_id=${text}&redirect_uri=${text}&state=${text}`,
    )
    await fetch(`${server.origin}/${tenant}/signin/${text}`)
    await fetch(`${server.origin}/${tenant}/device?user_code=${text}`)
    await pollWith(provider, tenant, client, secret)
    await fetch(`${server.origin}/${tenant}/api/v1/users/${text}?token=${text}`, {
      headers: { authorization: `Bearer ${secret}x` },
    })
    await fetch(`${url}?query=${text}&access_token=${text}`)
    await fetch(`${server.origin}/${text}/%ff%00/${text}`)
    await tokenRequest(provider, tenant, client, {
      grant_type: 'authorization_code',
      code: secret,
      redirect_uri: secret,
      code_verifier: secret,
    })
    await tokenRequest(provider, tenant, null, {
      grant_type: secret,
      client_id: client.id,
      client_secret: secret,
    })
    await refreshWith(provider, tenant, client, secret, { scope: `${secret}\u0000` })
    await call(token, 'POST', '/sessions/authenticate', { sessionToken: `${secret}\u0000`, [secret]: secret })
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
  // It did log: the mails and texts that failed.
  expect(printed).toContain('could not be delivered')
  expect(printed).toContain('"level":"info"')
  const found = Object.entries(secrets).filter(
    ([, secret]) =>
      (/^\d{6}$/.test(secret)
        ? new RegExp(`(?<!\\d)${secret}(?!\\d)`).test(printed)
        : printed.includes(secret)) ||
      printed.includes(encodeURIComponent(secret)) ||
      // Of what has several parts, none.
      secret.split('.').some((part) => part.length > 30 && printed.includes(part)),
  )
  expect(found.map(([name]) => name)).toEqual([])
  expect(Object.keys(secrets).length).toBeGreaterThanOrEqual(20)
}, 90_000)
