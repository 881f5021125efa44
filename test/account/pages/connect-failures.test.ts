import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { deleteIdentityProvider } from '../../../src/idps/idps.ts'
import { LANGUAGE_COOKIE } from '../../../src/languages/request-language.ts'
import { test as base } from '../../support/connect-identity.ts'
import { dbFor } from '../../support/database.ts'
import { listenOnLoopback } from '../../support/loopback.ts'
import { hasServices } from '../../support/services.ts'

/** The deadline of a step at a provider, with the time of a busy machine. */
const DEADLINE_MS = 9000

const test = base
  /** The path of the page, with the form that connects a provider. */
  .extend('expectWayOn', () => (html: string, idpId: string) => {
    expect(html).toContain('value="connect"')
    expect(html).toContain(`value="${idpId}"`)
  })
  .extend('countRows', ({ tenant, person }) => async () => {
    const where = { tenantId: tenant }
    return {
      links: await dbFor(tenant).idpUser.count({ where: { ...where, userId: person.id } }),
      interactions: await dbFor(tenant).interaction.count({ where }),
      linked: await dbFor(tenant).event.count({ where: { ...where, type: 'idpuser.linked' } }),
    }
  })
  /** A provider that accepts connections and never answers. */
  .extend('silent', async ({ newProvider }, { onCleanup }) => {
    const server = createServer(() => {})
    const port = await listenOnLoopback(server)
    onCleanup(() => void server.close())
    return newProvider({ issuer: `http://127.0.0.1:${port}` })
  })

describe.runIf(hasServices)('connecting an account at a provider that does not cooperate', () => {
  test('says within seconds, in the language of the user, that the provider does not respond, and stores nothing', async ({
    browser,
    silent,
    pressConnect,
    expectWayOn,
    countRows,
  }) => {
    const before = await countRows()
    browser.cookies.set(LANGUAGE_COOKIE, 'de')
    const begin = performance.now()
    const response = await pressConnect(silent)
    expect(performance.now() - begin).toBeLessThan(DEADLINE_MS)
    expect(response.status).toBe(503)
    const html = await response.text()
    expect(html).toContain('antwortet nicht. Es wurde nichts geändert.')
    expectWayOn(html, silent.id)
    expect(await countRows()).toEqual(before)
  })

  test('links nothing when the provider answers too late, and the next attempt succeeds', async ({
    newProvider,
    connect,
    signInThere,
    comeBack,
    expectWayOn,
    countRows,
    linksTo,
    events,
  }) => {
    const late = await newProvider()
    const before = await countRows()
    const callback = await signInThere(await connect(late), 'late')
    let isAnswered = false
    late.upstream.before.set('/token', async (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
      await sleep(DEADLINE_MS - 1000)
      response.end(JSON.stringify({ access_token: 'x', token_type: 'bearer' }))
      isAnswered = true
      return true
    })
    const begin = performance.now()
    const page = await comeBack(callback)
    expect(performance.now() - begin).toBeLessThan(DEADLINE_MS)
    expect(page.response.status).toBe(503)
    expect(page.html).toContain('does not respond. Nothing was changed. Try again later.')
    expectWayOn(page.html, late.id)
    expect((await events({ type: 'signin.failed' })).at(-1)).toMatchObject({
      detail: { method: 'provider', reason: 'unavailable' },
    })
    await expect.poll(() => isAnswered, { timeout: DEADLINE_MS }).toBe(true)
    expect(await countRows()).toEqual(before)
    // The callback leads to the page again, where the answer is not accepted twice.
    expect((await comeBack(callback)).response.status).toBe(400)
    expect(await countRows()).toEqual(before)
    late.upstream.before.clear()
    const again = await comeBack(await signInThere(await connect(late), 'late'))
    expect(again.html).toContain('The account is connected.')
    expect(await linksTo('late', late)).toHaveLength(1)
  })

  test('says that the provider did not confirm the account when it rejects the code', async ({
    provider,
    connect,
    signInThere,
    comeBack,
    expectWayOn,
    countRows,
  }) => {
    const callback = await signInThere(await connect(), 'rejected')
    callback.searchParams.set('code', 'forged')
    const { response, html } = await comeBack(callback)
    expect(response.status).toBe(400)
    expect(html).toContain('did not confirm your account. Nothing was changed. Try again.')
    expectWayOn(html, provider.id)
    expect(await countRows()).toMatchObject({ links: 0 })
  })

  test('keeps the identity that was linked in the meantime, and offers to unlink it', async ({
    person,
    provider,
    link,
    connect,
    signInThere,
    comeBack,
    linksTo,
  }) => {
    const callback = await signInThere(await connect(), 'second')
    await link(person.id, provider, 'first')
    const { response, html } = await comeBack(callback)
    expect(response.status).toBe(409)
    expect(html).toContain('is connected already. Unlink it first.')
    expect(html).toContain('value="unlink"')
    expect([await linksTo('first'), await linksTo('second')]).toEqual([[person.id], []])
  })

  test('links nothing when the provider was deleted in the meantime', async ({
    ctx,
    newProvider,
    connect,
    signInThere,
    comeBack,
    countRows,
  }) => {
    const deleted = await newProvider()
    const callback = await signInThere(await connect(deleted), 'deleted')
    await deleteIdentityProvider(ctx, deleted.id)
    const { response, html } = await comeBack(callback)
    expect(response.status).toBe(400)
    expect(html).toContain('did not confirm your account.')
    expect(html).not.toContain(`value="${deleted.id}"`)
    expect(await countRows()).toMatchObject({ links: 0 })
  })
})
