import { describe, expect } from 'vitest'
import { consumeLimit, RATE_LIMITS, returnToNetwork } from '../../src/coordination/rate-limits.ts'
import { RateLimited } from '../../src/core/errors.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { verifySignInPasscode } from '../../src/passcodes/passcodes.ts'
import { sendSignInPasscode } from '../../src/passcodes/send-passcode.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { resetCooldown } from '../support/account.ts'
import { dbFor } from '../support/database.ts'
import { interactionAt } from '../support/hosted-pages.ts'
import { test as base } from '../support/passkeys.ts'
import { answerIn } from '../support/protocol.ts'
import { newVisit } from '../support/visit.ts'

const LIMIT = 10
const OFFICE = '198.51.100.7'
let visits = 0

/** In a tenant whose limits are ten, with what a visitor of one network does. */
const test = base
  .extend('limited', { scope: 'file', auto: true }, async ({ ctx }) => {
    await updateSettings(ctx, { networkCodeLimit: LIMIT, networkFailureLimit: LIMIT })
  })
  .extend(
    'request',
    ({ ctx }) =>
      async (address: string, ip: string, knownBrowser: string | null = null, enteredFrom = ip) => {
        const visitor = { ...ctx, actor: { kind: 'anonymous' } as const, ip }
        const guesser = { ...visitor, ip: enteredFrom }
        const visit = newVisit(`limits-${++visits}`, ip, knownBrowser)
        await sendSignInPasscode(visitor, address, visit)
        await awaitDeliveries()
        return { enter: (code: string) => verifySignInPasscode(guesser, address, code, visit) }
      },
  )
  .extend(
    'countRequests',
    ({ request }) =>
      async (toAddress: (index: number) => Promise<string>, ip: string) => {
        for (let count = 0; count < 3 * LIMIT; count++) {
          const address = await toAddress(count)
          const isLimited = await request(address, ip).then(
            () => false,
            (error) => error instanceof RateLimited,
          )
          if (isLimited) return count
        }
        return Number.POSITIVE_INFINITY
      },
  )

describe('the limits of a network', () => {
  test('do not stop users who enter right codes, however many they are', async ({
    newPerson,
    request,
    inbox,
  }) => {
    for (let user = 0; user < 2 * LIMIT; user++) {
      const { email } = await newPerson()
      const sent = await request(email, OFFICE)
      await expect(sent.enter(await inbox.codeFor(email))).resolves.toHaveProperty('token')
    }
  })

  test('are reached after as many requests for known addresses as for unknown ones', async ({
    newPerson,
    email,
    countRequests,
  }) => {
    const known = await countRequests(async () => (await newPerson()).email, '198.51.100.20')
    const unknown = await countRequests(async (index) => email(`nobody${index}`), '198.51.100.21')
    expect([known, unknown]).toEqual([LIMIT, LIMIT])
  })

  test('do not affect a browser in which the address signed in before', async ({
    newPerson,
    email,
    request,
    countRequests,
    inbox,
  }) => {
    const ip = '198.51.100.30'
    await countRequests(async (index) => email(`flood${index}`), ip)
    const person = await newPerson()
    await expect(request(person.email, ip)).rejects.toThrow(RateLimited)
    const sent = await request(person.email, ip, 'known-browser')
    await expect(sent.enter(await inbox.codeFor(person.email))).resolves.toHaveProperty('token')
  })

  test('count wrong codes at all addresses, and not the right ones between them', async ({
    newPerson,
    request,
    inbox,
  }) => {
    const ip = '198.51.100.40'
    const outcomes: string[] = []
    for (let attempt = 0; attempt < LIMIT + 2; attempt++) {
      const { email } = await newPerson()
      // Sent in another network: the limit of requests is not what this test reaches.
      const sent = await request(email, `203.0.113.${attempt}`, null, ip)
      outcomes.push(await sent.enter('no-code').catch(({ problem, name }) => problem ?? name))
      if (attempt === 3) await sent.enter(await inbox.codeFor(email))
    }
    expect(outcomes).toEqual([...Array.from({ length: LIMIT }, () => 'wrong'), 'RateLimited', 'RateLimited'])
  })
})

describe('uses that are returned to a limit', () => {
  test('are not those of a known browser, which were not counted', async ({
    tenant,
    newPerson,
    browser,
    start,
    inbox,
  }) => {
    const { email } = await newPerson()
    const enter = async ({ path, html }: { path: string; html: string }) =>
      browser.submit({ path, html }, { step: 'code', code: await inbox.codeFor(email) })
    const toPage = async ({ path, response }: { path: string; response: Response }) => ({
      path,
      html: await response.text(),
    })
    await enter(await toPage(await browser.submit(await start(), { step: 'email', address: email })))
    const readCount = async () => {
      let left = 0
      const take = () => consumeLimit('sendPasscode', tenant, '127.0.0.1', LIMIT).then(() => (left += 1))
      while (await take().catch(() => null));
      await returnToNetwork('sendPasscode', tenant, '127.0.0.1', left)
      return LIMIT - left
    }
    for (let use = 0; use < 5; use++) await consumeLimit('sendPasscode', tenant, '127.0.0.1', LIMIT)
    expect(await readCount()).toBe(5)
    browser.forgetSessions()
    let page = await toPage(await browser.submit(await start(), { step: 'email', address: email }))
    const waitIsOver = async () => {
      await resetCooldown(tenant, email)
      const where = interactionAt(tenant, page.path)
      const { progress } = await dbFor(tenant).interaction.findUniqueOrThrow({ where })
      const data = { progress: { ...(progress as object), sentAt: new Date(0).toISOString() } }
      await dbFor(tenant).interaction.update({ where, data })
    }
    for (let resend = 0; resend < 3; resend++) {
      await waitIsOver()
      page = await toPage(await browser.submit(page, { step: 'resend' }))
    }
    expect(await readCount()).toBe(5)
    for (const name of browser.cookies.keys()) if (name.startsWith('vst_kb')) browser.cookies.delete(name)
    await waitIsOver()
    page = await toPage(await browser.submit(page, { step: 'resend' }))
    expect(await readCount()).toBe(6)
    await enter(page)
    expect(browser.sessionToken).toBeDefined()
    expect(await readCount()).toBe(5)
    await returnToNetwork('sendPasscode', tenant, '127.0.0.1', 5)
  })

  test('are at most those that were taken', async ({ tenant }) => {
    const network = '198.51.100.50'
    const take = () => consumeLimit('sendPasscode', tenant, network, 3)
    await take()
    await Promise.all([1, 2, 3].map(() => returnToNetwork('sendPasscode', tenant, network, 5)))
    for (let use = 0; use < 3; use++) await take()
    await expect(take()).rejects.toThrow(RateLimited)
  })

  test('let no more through at once than the limit', async ({ tenant }) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () => consumeLimit('sendPasscode', tenant, '198.51.100.51', LIMIT)),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(LIMIT)
  })
})

describe('the page of a network that has reached its limit', () => {
  test('says when to try again, with 429 and Retry-After, and accepts a passkey', async ({
    tenant,
    person,
    browser,
    start,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    for (let use = 0; use < LIMIT; use++) await consumeLimit('sendPasscode', tenant, '127.0.0.1', LIMIT)
    const { response, path } = await browser.submit(await start(), { step: 'email', address: person.email })
    const html = await response.text()
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(RATE_LIMITS.sendPasscode.seconds)
    expect(html).toMatch(/Too many attempts\. Try again in \d+ (minutes|seconds)\./)
    expect(html).toContain(`value="${person.email}"`)
    expect(html).toContain('Sign in with a passkey')
    const { location } = await passkeys.present({ path, html, response }, passkey)
    expect(answerIn(location)).toHaveProperty('code')
  })
})
