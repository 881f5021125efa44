import { afterAll, beforeAll, expect, test } from 'vitest'
import { dbFor } from '../../src/db.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  codeFor,
  makeClient,
  makeUser,
  type Provider,
  startProvider,
} from '../oidc/provider.ts'
import { newTenant } from '../support/actors.ts'

const EMAIL = 'half@example.com'
let provider: Provider
let tenant: string
beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
})
afterAll(() => provider.close())

test('security 31: a sign-in that is half done is worth nothing, wherever it is used', async () => {
  const user = await makeUser(tenant, EMAIL)
  const client = await makeClient(tenant)
  const browser = new Browser(provider)
  const start = await browser.open(authorizePath(tenant, client))
  const asked = { html: await start.response.text(), path: start.path }
  const sent = await browser.submit(asked, { step: 'email', address: EMAIL })
  const code = { html: await sent.response.text(), path: sent.path }
  const silent = async () => {
    const answer = await browser.fetch(authorizePath(tenant, client, { prompt: 'none' }))
    return answerIn(answer.headers.get('location'))
  }
  const sessions = () => dbFor(tenant).session.count({ where: { tenantId: tenant, userId: user.id } })

  // The address is known, a code under way, and the browser holds all that it will be given before the code.
  expect([await silent(), await sessions()]).toMatchObject([{ error: 'login_required' }, 0])
  const right = await codeFor(EMAIL)
  const wrong = right === '000000' ? '000001' : '000000'
  await browser.submit(code, { step: 'code', code: wrong })
  expect([await silent(), await sessions()]).toMatchObject([{ error: 'login_required' }, 0])
  // Steps that only a signed-in person has are none of theirs either.
  for (const step of ['allow', 'continue']) await browser.submit(code, { step })
  expect([await silent(), await sessions()]).toMatchObject([{ error: 'login_required' }, 0])

  await browser.submit(code, { step: 'code', code: right })
  expect(await sessions()).toBe(1)
  expect(await silent()).toHaveProperty('code')
})
