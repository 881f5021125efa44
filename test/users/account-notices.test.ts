import { describe, expect } from 'vitest'
import { revokeViewerCredential } from '../../src/account/sign-in-methods.ts'
import { createPlatformCtx, toUserCtx } from '../../src/context/context.ts'
import { revokeCredential } from '../../src/credentials/credentials.ts'
import { createRecoveryCodes } from '../../src/credentials/second-factors/recovery-codes.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser, lockUser } from '../../src/users/users.ts'
import { enrollPasskey } from '../support/passkeys.ts'
import { test as base } from '../support/tenant-per-test.ts'
import { enrollTotp } from '../support/totp.ts'

const test = base
  .extend('email', ({ tenant }) => `ada@${tenant}.example`)
  .extend('userId', async ({ ctx, email }) => (await createUser(ctx, { email, emailVerified: true })).id)
  /** The messages to an address, the oldest first. */
  .extend('readMessages', ({ email }) => async (address: string = email) => {
    await awaitDeliveries()
    return listInboxMessages(address).toReversed()
  })

describe('a user whose ways to sign in change', () => {
  test('gets a mail about each passkey, app and set of recovery codes', async ({
    ctx,
    tenant,
    userId,
    readMessages,
  }) => {
    const { credentialId } = await enrollPasskey(ctx, userId)
    const totp = await enrollTotp(toUserCtx(ctx, { userId }), userId)
    const codes = await createRecoveryCodes(ctx, userId, { replace: true })
    await createRecoveryCodes(ctx, userId, { replace: true })
    await revokeCredential(ctx, credentialId)
    await revokeCredential(ctx, totp.credentialId)
    expect(codes.credentialId).toMatch(/^cred_/)
    const messages = await readMessages()
    expect(messages.map(({ subject }) => subject)).toEqual(
      expect.arrayContaining([
        `A passkey was added to your account at ${tenant}`,
        `An authenticator app was added to your account at ${tenant}`,
        `New recovery codes were created for your account at ${tenant}`,
        `A passkey was removed from your account at ${tenant}`,
        `The authenticator app was removed from your account at ${tenant}`,
      ]),
    )
    // The first recovery codes come with the app.
    expect(messages).toHaveLength(5)
    for (const { body } of messages)
      expect(body).toContain(`http://localhost:3000/${tenant}/account/sign-in-methods`)
  })

  test('learns whether an administrator did it, and from which browser otherwise', async ({
    ctx,
    tenant,
    userId,
    readMessages,
  }) => {
    await updateSettings(ctx, { supportUrl: 'https://acme.example/help' })
    const { credentialId } = await enrollPasskey(
      { ...ctx, userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
      userId,
    )
    await revokeCredential(createPlatformCtx(tenant), credentialId)
    const bodies = (await readMessages()).map(({ body }) => body)
    expect(bodies.find((body) => body.includes('was added'))).toMatch(/Browser: Firefox.*\nTime: .* UTC/)
    const removed = bodies.find((body) => body.includes('was removed'))
    expect(removed).toContain('An administrator did this on')
    expect(removed).toContain('Get help: https://acme.example/help')
  })

  test('gets a text message without a verified e-mail address, and nothing without any', async ({
    ctx,
    readMessages,
  }) => {
    const phoneNumber = '+41791115577'
    const email = 'unverified@notices.example'
    const { id } = await createUser(ctx, { email, phoneNumber, phoneNumberVerified: true })
    await enrollTotp(ctx, id)
    expect(await readMessages(email)).toEqual([])
    expect((await readMessages(phoneNumber)).map(({ body }) => body)).toEqual([
      expect.stringContaining('An authenticator app was added'),
    ])
    const { id: silent } = await createUser(ctx, { name: 'Nameless' })
    await enrollTotp(ctx, silent)
    await awaitDeliveries()
  })

  test('gets no mail when nothing was changed', async ({ ctx, userId, readMessages }) => {
    await lockUser(ctx, userId)
    await expect(enrollTotp(ctx, userId)).rejects.toThrow()
    await expect(revokeViewerCredential(toUserCtx(ctx, { userId }), 'cred_unknown')).rejects.toThrow()
    expect(await readMessages()).toEqual([])
  })
})
