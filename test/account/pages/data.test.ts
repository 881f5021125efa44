import { describe, expect } from 'vitest'
import { updateUser } from '../../../src/users/users.ts'
import { test } from '../../support/account-pages.ts'
import { enrollPasskey } from '../../support/passkeys.ts'
import { enrollTotp } from '../../support/totp.ts'

describe('the page of data', () => {
  test('downloads what is stored about the user, without secrets', async ({
    ctx,
    tenant,
    person,
    newPerson,
    submit,
  }) => {
    const passkey = await enrollPasskey(ctx, person.id)
    const { secret } = await enrollTotp(ctx, person.id)
    await updateUser(ctx, person.id, { appMetadata: { internal: 'rating' } })
    const other = await newPerson()
    const { response, html } = await submit('/data', { step: 'download' })
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${tenant}-account.json"`)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const data = JSON.parse(html)
    expect(Object.keys(data)).toEqual(['user', 'sessions', 'credentials', 'idpUsers', 'consents', 'deletion'])
    expect(data.user).toMatchObject({ id: person.id, email: person.email })
    expect(data.sessions).toHaveLength(1)
    expect(data.credentials.map(({ type }: { type: string }) => type).sort()).toEqual(['public-key', 'totp'])
    for (const hidden of [secret, passkey.id, 'tokenHash', 'rating', other.id])
      expect(html).not.toContain(hidden)
  })

  test('requires a sign-in of the last minutes', async ({ tenant, visit, ageSignIn }) => {
    await ageSignIn(16)
    expect((await visit('/data')).path).toMatch(new RegExp(`^/${tenant}/signin/`))
  })
})
