import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import * as oidc from 'openid-client'
import {
  callApi,
  createClient,
  createUser,
  fetchBackendToken,
  signIn,
  type Trial,
  waitFor,
} from './runner.ts'

/** Installs the packages of an example, or lends it those of this checkout. */
export async function install(trial: Trial, isLent: boolean): Promise<void> {
  const { example } = trial
  const has = (name: string) => existsSync(join(trial.directory, name))
  if (isLent) return symlink(resolve('node_modules'), join(trial.directory, 'node_modules'))
  const [program] = /^go install .*$/m.exec(example.install ?? '') ?? []
  if (program) await trial.start(program, { GOBIN: join(trial.directory, '.bin') }).succeed()
  if (has('package.json')) await trial.start('npm install --no-package-lock').succeed()
  if (has('requirements.txt'))
    await trial.start('python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt').succeed()
}

/** Starts the example as its page says. */
function run(trial: Trial) {
  const paths = [join(trial.directory, '.venv/bin'), join(trial.directory, '.bin'), process.env.PATH]
  return trial.start(trial.example.run, { PATH: paths.join(':') })
}

/** Signs in at an application in the browser, which shows who signed in. */
async function tryPages(trial: Trial): Promise<void> {
  const server = run(trial)
  await trial.waitUntilServing(server)
  const page = await trial.openPage()
  await page.goto(trial.origin)
  if (page.url().startsWith(trial.origin)) await page.getByText('Sign in', { exact: true }).click()
  // Auth.js asks once more.
  const confirm = page.getByRole('button', { name: 'Sign in with Vestibule' })
  await page.getByLabel('Email address').or(confirm).waitFor()
  if ((await confirm.count()) > 0) await confirm.click()
  await signIn(page, trial)
  await page.getByText(`Signed in as ${trial.address}`).waitFor()
}

/** Signs in where a program on this machine leads to. */
async function tryNative(trial: Trial): Promise<void> {
  const program = run(trial)
  const [, url = ''] = await program.waitForText(/^Open (\S+)/m)
  const page = await trial.openPage()
  await page.goto(url)
  await signIn(page, trial)
  await page.getByText('You are signed in.').waitFor()
  await program.waitForText(new RegExp(`^Signed in as ${trial.address}`, 'm'))
  await program.succeed()
}

/** Enters the code that a device shows. */
async function tryDevice(trial: Trial): Promise<void> {
  const device = run(trial)
  const [, url = '', code = ''] = await device.waitForText(/^Open (\S+) and enter (\S+)/m)
  const page = await trial.openPage()
  await page.goto(url)
  await page.locator('input[name=user_code]').fill(code)
  await page.getByRole('button', { name: 'Continue' }).click()
  await signIn(page, trial)
  await device.waitForText(new RegExp(`^Signed in as ${trial.address}|"access_token"`, 'm'))
  await device.succeed()
}

async function tryMachine(trial: Trial): Promise<void> {
  const machine = run(trial)
  await machine.succeed()
  await machine.waitForText(/eyJ[\w-]+\.[\w-]+\.[\w-]+/)
}

/** Listens on this machine for an authorization response, as a native application does. */
async function listenForResponse() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
  const received = once(server, 'request').then(([request, response]) => {
    response.end('Signed in.')
    server.close()
    return new URL(request.url, redirectUri)
  })
  /** Opens an authorization URL, and signs in. */
  const authorize = async (trial: Trial, url: URL): Promise<URL> => {
    const page = await trial.openPage()
    await page.goto(url.href)
    await signIn(page, trial)
    return received
  }
  return { redirectUri, authorize }
}

const createNativeClient = (trial: Trial) =>
  createClient(trial.server, { name: 'Caller', appType: 'native', callbacks: ['http://127.0.0.1/callback'] })

/** A token of a user for an API. */
async function fetchUserToken(trial: Trial, resource: string): Promise<string> {
  const { id } = await createNativeClient(trial)
  const { redirectUri, authorize } = await listenForResponse()
  const config = await oidc.discovery(new URL(trial.server.issuer), id, undefined, oidc.None(), {
    execute: [oidc.allowInsecureRequests],
  })
  const checks = { pkceCodeVerifier: oidc.randomPKCECodeVerifier(), expectedState: oidc.randomState() }
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid',
    resource,
    state: checks.expectedState,
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const response = await authorize(trial, url)
  return (await oidc.authorizationCodeGrant(config, response, checks)).access_token
}

/** Declares an API with a permission; returns what gives it to the user. */
async function declareApi({ server, example, origin, userId }: Trial): Promise<() => Promise<unknown>> {
  const { id } = await callApi<{ id: string }>(server, 'POST', '/apis', {
    identifier: origin,
    name: 'Shop API',
    permissions: [{ name: 'orders:read', description: 'Read orders' }],
  })
  const role = await callApi<{ id: string }>(server, 'POST', '/app-roles', {
    name: `clerk-${example.id}`,
    permissions: [{ apiId: id, name: 'orders:read' }],
  })
  return () => callApi(server, 'PUT', `/users/${userId}/app-roles`, { appRoleIds: [role.id] })
}

/** Calls an API with the token of a user, without and with a permission, then with none and with one for another API. */
async function tryApi(trial: Trial): Promise<void> {
  const giveRole = await declareApi(trial)
  await trial.waitUntilServing(run(trial))
  const call = async (path: string, token: string, expected: number): Promise<string> => {
    const response = await fetch(`${trial.origin}${path}`, {
      headers: token ? { authorization: `Bearer ${token}` } : {},
    })
    const text = await response.text()
    if (response.status !== expected) throw new Error(`${path} answered ${response.status} ${text}`)
    return text
  }
  const token = await fetchUserToken(trial, trial.origin)
  const me = await call('/me', token, 200)
  if (!me.includes(trial.userId)) throw new Error(`/me answered ${me}`)
  await call('/orders', token, 403)
  for (const foreign of ['', await fetchBackendToken(trial.server)]) await call('/orders', foreign, 401)
  await giveRole()
  await call('/orders', await fetchUserToken(trial, trial.origin), 200)
}

/** Calls the tool of an MCP server with a client of the SDK. */
async function tryMcp(trial: Trial): Promise<void> {
  await trial.waitUntilServing(run(trial))
  const { id } = await createNativeClient(trial)
  const { redirectUri, authorize } = await listenForResponse()
  let [requested, verifier] = [new URL(trial.origin), '']
  let tokens: OAuthTokens | undefined
  const provider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    clientMetadata: { redirect_uris: [redirectUri] },
    clientInformation: () => ({ client_id: id }),
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved
    },
    redirectToAuthorization: (url) => {
      requested = url
    },
    saveCodeVerifier: (saved) => {
      verifier = saved
    },
    codeVerifier: () => verifier,
  }
  await auth(provider, { serverUrl: trial.origin })
  const response = await authorize(trial, requested)
  const code = response.searchParams.get('code') ?? undefined
  await auth(provider, { serverUrl: trial.origin, authorizationCode: code })
  const client = new Client({ name: 'example', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(trial.origin), { authProvider: provider }))
  const answer = JSON.stringify(await client.callTool({ name: 'whoami' }))
  await client.close()
  if (!answer.includes(trial.userId)) throw new Error(`the tool answered ${answer}`)
}

/** Makes the user a member of an organization, and ends it; OpenFGA follows. */
async function tryFollower(trial: Trial): Promise<void> {
  const { server, origin, userId } = trial
  const [, store] = await run(trial).waitForText(/^Store (\S+)/m)
  const callFga = async (path: string, body: object): Promise<{ allowed?: boolean }> => {
    const response = await fetch(`${origin}/stores/${store}/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return (await response.json()) as { allowed?: boolean }
  }
  const organization = await callApi<{ id: string }>(server, 'POST', '/organizations', {
    slug: 'followed',
    name: 'Followed',
  })
  const owner = { user: `organization:${organization.id}`, relation: 'owner', object: 'document:7' }
  await callFga('write', { writes: { tuple_keys: [owner] } })
  const question = { user: `user:${userId}`, relation: 'can_read', object: 'document:7' }
  const waitForAnswer = (expected: boolean) =>
    waitFor(
      async () => ((await callFga('check', { tuple_key: question })).allowed === expected ? true : undefined),
      () => `it does not answer ${expected}`,
    )
  await waitForAnswer(false)
  const path = `/organizations/${organization.id}/members`
  const { id } = await callApi<{ id: string }>(server, 'POST', path, { userId })
  await waitForAnswer(true)
  await callApi(server, 'DELETE', `/memberships/${id}`)
  await waitForAnswer(false)
}

/** Signs in as an administrator; the table shows at once that somebody else locks a user. */
async function tryTable(trial: Trial): Promise<void> {
  const { server } = trial
  const change = (path: string, method: string, body: object) =>
    callApi(server, method, `/users/${path}`, body)
  await change(`${trial.userId}/roles`, 'PUT', { roles: ['support'] })
  const { id, email } = await createUser(server, 'locked@demo.example')
  await cp('schema.graphql', join(trial.directory, 'schema.graphql'))
  await trial.waitUntilServing(run(trial))
  const page = await trial.openPage()
  await page.goto(trial.origin)
  await page.getByText('Sign in', { exact: true }).click()
  await signIn(page, trial)
  await page.getByRole('row').first().waitFor()
  const more = page.getByRole('button', { name: 'More' })
  if ((await more.count()) > 0) await more.click()
  const row = page.getByRole('row').filter({ hasText: email })
  await row.getByText('active').waitFor()
  await change(id, 'PATCH', { locked: true })
  await row.getByText('locked', { exact: true }).waitFor({ timeout: 3000 })
  await row.getByRole('button', { name: 'Unlock' }).click()
  await row.getByText('active').waitFor()
}

type TryExample = (trial: Trial) => Promise<void>
const ATTEMPTS: Record<string, TryExample> = {
  web: tryPages,
  'single-page': tryPages,
  native: tryNative,
  device: tryDevice,
  machine: tryMachine,
  'api-express': tryApi,
  'api-fastapi': tryApi,
  'api-go': tryApi,
  mcp: tryMcp,
  'oauth2-proxy': tryPages,
  openfga: tryFollower,
  'admin-table': tryTable,
}

/** Starts an example, and signs in through it. */
export function tryExample(trial: Trial): Promise<void> {
  const { id, kind = id } = trial.example
  const attempt = ATTEMPTS[kind]
  if (!attempt) throw new Error(`nothing tries ${id}`)
  return attempt(trial)
}
