import { afterEach, describe, expect, vi } from 'vitest'
import { newTenant } from '../support/actors.ts'
import { connectToDatabase } from '../support/connections.ts'
import { test } from '../support/fixtures.ts'
import { endConnectionAt, listTargets, type Moment, retryUnavailable } from '../support/lost-connections.ts'
import { signInAs } from '../support/people.ts'
import { makeClient, makeUser, refreshWith, userinfoOf } from '../support/protocol.ts'
import { collectUncaught } from '../support/uncaught.ts'

describe.each<Moment>(['before', 'after'])('a connection that ends %s a statement', (moment) => {
  afterEach(() => void vi.restoreAllMocks())

  test('is answered with 503 at every statement of a sign-in, and the next sign-in succeeds', async ({
    app,
  }) => {
    const admin = await connectToDatabase()
    const failures = retryUnavailable()
    const uncaught = collectUncaught()
    let people = 0
    let scene = await newScene()
    const follow = async (): Promise<void> => {
      const { tenant, client } = scene
      const email = `person${++people}@${tenant}.example`
      await makeUser(tenant, email)
      const scope = 'openid offline_access'
      const { answer, browser } = await signInAs(app, tenant, client, email, { scope })
      const { status, body } = await refreshWith(app, tenant, client, answer.refresh_token ?? '')
      expect(status).toBe(200)
      expect((await userinfoOf(app, tenant, body.access_token ?? '')).status).toBe(200)
      const logout = `/${tenant}/oidc/logout?id_token_hint=${answer.id_token}`
      expect((await browser.open(logout)).response.status).toBe(200)
    }
    const targets = await listTargets(follow)
    expect(targets.length).toBeGreaterThan(30)
    for (const [index, target] of targets.entries()) {
      // A network gets 30 codes per hour and tenant, and a sign-in may need several.
      if (index % 5 === 0) scene = await newScene()
      const isFinished = await endConnectionAt(admin, target, moment, follow).then(
        () => true,
        () => false,
      )
      // A code is used and its answer lost: the person asks for another one, which the address gets after 30 s.
      if (!isFinished) await follow()
    }
    expect(failures.length).toBeGreaterThan(20)
    expect(failures.filter(({ status, retryAfter }) => status !== 503 || !retryAfter)).toEqual([])
    expect(uncaught).toEqual([])
  }, 120_000)
})

async function newScene() {
  const tenant = await newTenant()
  return { tenant, client: await makeClient(tenant) }
}
