import { describe, expect } from 'vitest'
import { startSessionIn } from '../support/browser-session.ts'
import { dbFor } from '../support/database.ts'
import { answerIn, authorizePath } from '../support/protocol.ts'
import { test, WEB } from '../support/registration.ts'

describe('default_max_age and require_auth_time (OIDC Registration, section 2)', () => {
  test('are registered, and a replacement without default_max_age unsets it', async ({
    register,
    callEndpoint,
  }) => {
    for (const age of [0, 600]) {
      const { body } = await register({ ...WEB, default_max_age: age, require_auth_time: false })
      expect(body).toMatchObject({ default_max_age: age, require_auth_time: true })
      const replaced = await callEndpoint('PUT', `/${body.client_id}`, body.registration_access_token, {
        ...WEB,
        client_id: body.client_id,
      })
      expect(replaced.body).not.toHaveProperty('default_max_age')
      expect(replaced.body).toMatchObject({ require_auth_time: true })
    }
  })

  test.for([-1, 1.5, '600', 31_536_001])('default_max_age cannot be %s', async (age, { register }) => {
    const { status, body } = await register({ ...WEB, default_max_age: age, require_auth_time: 'yes' })
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
    expect(body.error_description).toMatch(
      /require_auth_time must be true or false.*default_max_age must be /s,
    )
  })

  test('demands a new sign-in for requests without max_age', async ({
    tenant,
    person,
    browser,
    register,
  }) => {
    const { body } = await register({ ...WEB, default_max_age: 600 })
    await startSessionIn(browser, tenant, person.id)
    const ask = async (more: Record<string, string>) => {
      const path = authorizePath(tenant, { id: body.client_id }, { prompt: 'none', ...more })
      return answerIn((await browser.open(path)).location).error
    }
    expect(await ask({})).toBe('consent_required')
    const at = new Date(Date.now() - 3_600_000)
    await dbFor(tenant).session.updateMany({
      where: { tenantId: tenant, userId: person.id },
      data: { authenticatedAt: at, proofs: [{ method: 'passcode', amr: ['otp'], at: at.toISOString() }] },
    })
    expect(await ask({})).toBe('login_required')
    expect(await ask({ max_age: '7200' })).toBe('consent_required')
  })
})
