import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { describe, expect } from 'vitest'
import { issuerOf } from '../../src/core/issuer.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { dbFor } from '../support/database.ts'
import type { Person } from '../support/fixtures.ts'
import { openPage } from '../support/hosted-pages.ts'
import type { PageBrowser } from '../support/page-browser.ts'
import { answerIn } from '../support/protocol.ts'
import { test as base, OLD_PASSWORD, startMigration } from '../support/sign-in-methods.ts'
import { importLines, toStatuses } from '../support/user-lines.ts'

type Asked = { nonce: string; address: string; password: string }
/** How the old system answers. */
type Habit = (response: ServerResponse, asked: Asked) => void

const json =
  (body: object): Habit =>
  (response) =>
    response.end(JSON.stringify(body))
const proves: Habit = (response, { nonce, password }) =>
  json({ proven: password === OLD_PASSWORD, nonce })(response, { nonce, password, address: '' })

const test = base
  /** The old system, which verifies each request by the published keys. */
  .extend('old', { scope: 'file' }, async ({ app, tenant }, { onCleanup }) => {
    const keys = createRemoteJWKSet(new URL(`/${tenant}/.well-known/jwks.json`, app.origin))
    const habits = new Map<string, Habit>()
    const asked: Asked[] = []
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const { payload } = await jwtVerify(Buffer.concat(parts).toString(), keys, {
        issuer: issuerOf(tenant),
        audience: url,
        typ: 'old-account+jwt',
        maxTokenAge: 30,
      })
      const question = {
        nonce: String(payload.jti),
        address: String(payload.address),
        password: String(payload.password),
      }
      asked.push(question)
      const habit = habits.get(question.address) ?? proves
      habit(response, question)
    })
    server.listen(0)
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prove`
    onCleanup(() => {
      server.closeAllConnections()
      server.close()
    })
    return { url, asked, habits }
  })
  .extend('mark', ({ ctx, old }) => async (person: Person) => {
    await startMigration(ctx)
    await updateSettings(ctx, { proofUrl: old.url })
    const line = { email: person.email, emailVerified: true, proof: { url: true } }
    expect(toStatuses(await importLines(ctx, [line]))).toEqual(['updated'])
  })
  .extend('enter', ({ start }) => async (browser: PageBrowser, address: string, password = OLD_PASSWORD) => {
    const code = await browser.submit(await start(browser), { step: 'email', address })
    const page = await openPage(browser, code.path.replace(/\/code$/, '/password'))
    const begin = performance.now()
    const { response, location } = await browser.submit(page, { step: 'password', password })
    return { html: await response.text(), location, time: performance.now() - begin }
  })

describe('the system that a user comes from', () => {
  test('proves the account once, by a request that the tenant has signed', async ({
    ctx,
    tenant,
    person,
    newBrowser,
    old,
    mark,
    enter,
    events,
  }) => {
    await mark(person)
    // Both sign-ins ask before either is answered.
    const waiting: (() => void)[] = []
    old.habits.set(person.email, (response, asked) => {
      waiting.push(() => proves(response, asked))
      if (waiting.length >= 2) for (const answer of waiting.splice(0)) answer()
    })
    const [first, second] = await Promise.all([
      enter(newBrowser(), person.email),
      enter(newBrowser(), person.email),
    ])
    expect([first, second].filter(({ location }) => location !== null)).toHaveLength(1)
    const questions = old.asked.filter(({ address }) => address === person.email)
    expect(questions).toHaveLength(2)
    old.habits.delete(person.email)
    expect(questions[0]).toMatchObject({ password: OLD_PASSWORD })
    expect(questions[0]?.nonce).not.toBe(questions[1]?.nonce)
    expect(answerIn((first.location ?? second.location) as string).code).toMatch(/./)
    expect(await events({ type: 'credential.migrated', userId: person.id })).toMatchObject([
      { detail: { algorithm: 'url' } },
    ])
    // It is not asked again, nor does an import bring the proof back.
    await importLines(ctx, [{ email: person.email, proof: { url: true } }])
    expect((await enter(newBrowser(), person.email)).location).toBeNull()
    expect(old.asked.filter(({ address }) => address === person.email)).toHaveLength(2)
    expect(JSON.stringify(await events())).not.toContain(OLD_PASSWORD)
    expect(
      await dbFor(tenant).oldPassword.findMany({ where: { tenantId: tenant, userId: person.id } }),
    ).toMatchObject([{ hash: null }])
  })

  test('is a wrong password where it is slow, broken, long, elsewhere or repeats an answer, and for strangers, in one time', async ({
    newPerson,
    newBrowser,
    old,
    mark,
    enter,
    events,
  }) => {
    const recorded = { proven: true, nonce: '00000000-0000-4000-8000-000000000000' }
    const habits: [reason: string | null, habit: Habit][] = [
      ['slow', () => {}],
      ['status', (response) => response.writeHead(500).end(JSON.stringify({ proven: true }))],
      ['redirected', (response) => response.writeHead(307, { location: old.url }).end()],
      [
        'too-large',
        (response, { nonce }) =>
          response.end(JSON.stringify({ proven: true, nonce, more: 'x'.repeat(5000) })),
      ],
      ['answer', json(recorded)],
      ['answer', (response) => response.end('proven')],
      ['unreachable', (response) => response.destroy()],
      [null, (response, { nonce }) => json({ proven: false, nonce })(response, {} as Asked)],
    ]
    const people = await Promise.all(habits.map(() => newPerson()))
    for (const [index, person] of people.entries()) {
      await mark(person)
      old.habits.set(person.email, habits[index]?.[1] as Habit)
    }
    const before = old.asked.length
    const addresses = [...people.map(({ email }) => email), 'nobody@example.com', 'none@example.com']
    const visits = await Promise.all(addresses.map((address) => enter(newBrowser(), address)))
    for (const { html, location } of visits) {
      expect(location).toBeNull()
      expect(html).toContain('This password did not work')
    }
    const times = visits.map(({ time }) => time)
    expect(Math.min(...times)).toBeGreaterThan(3200)
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(1500)
    // Strangers are not sent to the old system.
    expect(
      old.asked
        .slice(before)
        .map(({ address }) => address)
        .sort(),
    ).toEqual(people.map(({ email }) => email).sort())
    for (const [index, person] of people.entries())
      expect(
        (await events({ type: 'credential.proof_failed', userId: person.id })).map(
          ({ detail }) => detail?.reason,
        ),
      ).toEqual([habits[index]?.[0]].filter((reason) => reason !== null))
  })

  test('is asked neither after the migration nor without a mark of the import', async ({
    ctx,
    person,
    newPerson,
    newBrowser,
    start,
    old,
    mark,
    enter,
  }) => {
    await mark(person)
    const unmarked = await newPerson()
    const before = old.asked.length
    await enter(newBrowser(), unmarked.email)
    const browser = newBrowser()
    const code = await browser.submit(await start(browser), { step: 'email', address: person.email })
    const page = await openPage(browser, code.path.replace(/\/code$/, '/password'))
    await updateSettings(ctx, { migrationEndsAt: new Date(Date.now() - 1000).toISOString() })
    expect((await browser.submit(page, { step: 'password', password: OLD_PASSWORD })).location).toBeNull()
    expect(old.asked).toHaveLength(before)
    const [late] = await importLines(ctx, [{ email: person.email, proof: { url: true } }])
    expect(late).toMatchObject({ status: 'error', fields: [{ field: 'proof' }] })
    await startMigration(ctx)
    await updateSettings(ctx, { proofUrl: null })
    const [unset, both, neither] = await importLines(ctx, [
      { email: person.email, proof: { url: true } },
      {
        email: person.email,
        proof: { url: true, hash: { algorithm: 'md5', value: '900150983cd24fb0d6963f7d28e17f72' } },
      },
      { email: person.email, proof: {} },
    ])
    for (const result of [unset, both, neither])
      expect(result).toMatchObject({ status: 'error', fields: [{ field: expect.stringMatching(/^proof/) }] })
  })
})
