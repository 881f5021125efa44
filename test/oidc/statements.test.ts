import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { newTenant } from '../support/actors.ts'
import { countWarmStatements, recordStatements } from '../support/statements.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  refreshWith,
  signInAt,
  startProvider,
  tokenRequest,
  userinfoOf,
} from './provider.ts'

let provider: Provider
let tenant: string
let client: Awaited<ReturnType<typeof makeClient>>
let machine: Awaited<ReturnType<typeof makeClient>>
let browser: Browser

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant)
  machine = await makeClient(tenant, { appType: 'machine', callbacks: [], scopes: ['users:read'] })
  await makeUser(tenant, 'ada@example.com')
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, client), 'ada@example.com')
})
afterAll(() => provider.close())

const authorize = () =>
  browser.fetch(authorizePath(tenant, client, { prompt: 'none', scope: 'openid offline_access' }))
const newCode = async () => answerIn((await authorize()).headers.get('location')).code as string
const newTokens = async () => (await exchange(provider, tenant, client, await newCode())).body
const machineToken = () => tokenRequest(provider, tenant, machine, { grant_type: 'client_credentials' })

/** Counts when tenant, client and keys are in the caches. */
const warmly = (work: () => Promise<unknown>): Promise<number> =>
  countWarmStatements(async () => {
    await machineToken()
    await userinfoOf(provider, tenant, 'x')
    await exchange(provider, tenant, client, 'x')
  }, work)

// The embedded database takes the same statements; one of the two is enough to count them on.
describe.runIf(inject('database').kind === 'postgres')(
  'round trips to the database (design, section 9)',
  () => {
    test('client_credentials 0', async () => {
      expect(await warmly(machineToken)).toBe(0)
    })

    test('authorize with prompt=none 2', async () => {
      expect(await warmly(authorize)).toBe(2)
    })

    // A refusal is explained in the log: what the code came to, and the entry.
    test('code exchange 1, a replay 2 and 2 to tell why', async () => {
      const code = await newCode()
      expect(await warmly(() => exchange(provider, tenant, client, code))).toBe(1)
      expect(await warmly(() => exchange(provider, tenant, client, code))).toBe(4)
    })

    test('refresh 1, a retry 1, a token that we did not write 0 and 1 to tell', async () => {
      const token = (await newTokens()).refresh_token as string
      expect(await warmly(() => refreshWith(provider, tenant, client, token))).toBe(1)
      expect(await warmly(() => refreshWith(provider, tenant, client, token))).toBe(1)
      expect(await warmly(() => refreshWith(provider, tenant, client, `${token.slice(0, -1)}-`))).toBe(1)
    })

    test('userinfo 1, a token that we did not sign 0', async () => {
      const token = (await newTokens()).access_token as string
      expect(await warmly(() => userinfoOf(provider, tenant, token))).toBe(1)
      expect(await warmly(() => userinfoOf(provider, tenant, `${token.slice(0, -4)}AAAA`))).toBe(0)
    })

    test('every statement names the tenant first', async () => {
      const statements = await recordStatements(async () => {
        const { refresh_token: token } = await newTokens()
        await refreshWith(provider, tenant, client, token as string)
      })
      for (const statement of statements) expect(statement).toContain('"tenantId" = $1')
    })
  },
)
