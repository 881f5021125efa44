import { describe, expect } from 'vitest'
import { test as base } from '../../support/account-pages.ts'
import { dbFor } from '../../support/database.ts'
import { enrollPasskey } from '../../support/passkeys.ts'

const idsIn = (html: string): string[] =>
  [...html.matchAll(/name="credential" value="([^"]+)"/g)].map(([, id]) => id as string)

const test = base.extend('passkey', ({ ctx, person }) => enrollPasskey(ctx, person.id))

describe('the page of sign-in methods', () => {
  test('lists a passkey, removes it and records who did', async ({
    passkey,
    person,
    visit,
    submit,
    events,
  }) => {
    expect(idsIn((await visit('/sign-in-methods')).html)).toEqual([passkey.credentialId])
    const done = await submit('/sign-in-methods', { step: 'remove', credential: passkey.credentialId })
    expect(done.html).toContain('Sign-in method removed.')
    expect(idsIn(done.html)).toEqual([])
    expect((await events({ type: 'credential.revoked' })).slice(-1)).toMatchObject([
      { userId: person.id, actorUserId: person.id, actorClientId: null },
    ])
  })

  test('leads through a sign-in when the last one is older than 15 minutes', async ({
    tenant,
    passkey,
    visit,
    submit,
    ageSignIn,
  }) => {
    await ageSignIn(16)
    const forms: Record<string, string>[] = [
      { step: 'remove', credential: passkey.credentialId },
      { step: 'create-passkey' },
    ]
    for (const form of forms)
      expect((await submit('/sign-in-methods', form)).path).toMatch(new RegExp(`^/${tenant}/signin/`))
    expect(idsIn((await visit('/sign-in-methods')).html)).toEqual([passkey.credentialId])
  })

  test("does not remove another user's passkey, which is answered like an unknown one", async ({
    ctx,
    tenant,
    newPerson,
    submit,
  }) => {
    const other = await newPerson()
    const { credentialId } = await enrollPasskey(ctx, other.id)
    const answers = []
    for (const credential of [credentialId, 'cred_01m7xeb1sbendby702xerkqv3p', 'x', '']) {
      const { response, html } = await submit('/sign-in-methods', { step: 'remove', credential })
      expect(html).toContain('That is no longer there.')
      answers.push(response.status)
    }
    expect(answers).toEqual([400, 400, 400, 400])
    expect(await dbFor(tenant).credential.count({ where: { tenantId: tenant, userId: other.id } })).toBe(1)
  })

  test('leads to the page on which a passkey is created', async ({ tenant, submit }) => {
    const page = await submit('/sign-in-methods', { step: 'create-passkey' })
    expect(page.path).toMatch(new RegExp(`^/${tenant}/enroll\\?token=`))
    expect(page.response.status).toBe(200)
    expect(page.html).toContain('Create a passkey')
  })
})
