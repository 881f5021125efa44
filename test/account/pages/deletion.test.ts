import { describe, expect } from 'vitest'
import { takeChange } from '../../../src/coordination/person-budgets.ts'
import { awaitDeliveries } from '../../../src/delivery/background.ts'
import { listInboxMessages } from '../../../src/delivery/inbox.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { test } from '../../support/account-pages.ts'

const PATH = '/deletion'

describe('the page of the deletion', () => {
  test('does not exist unless the tenant permits it', async ({ ctx, visit }) => {
    expect((await visit(PATH)).response.status).toBe(404)
    expect((await visit()).html).not.toContain('/account/deletion')
    await updateSettings(ctx, { accountDeletionDays: 7 })
    expect((await visit()).html).toContain('/account/deletion')
    expect((await visit(PATH)).html).toContain('You have 7 days to change your mind.')
    await updateSettings(ctx, { accountDeletionDays: 0 })
  })

  test('requests the deletion, shows it on the overview, and keeps the account', async ({
    ctx,
    person,
    visit,
    submit,
  }) => {
    await updateSettings(ctx, { accountDeletionDays: 7 })
    const asked = await submit(PATH, { step: 'delete' })
    expect(asked.html).toContain('Your account will be deleted. You can still keep it.')
    expect(asked.html).not.toContain('Delete my account')
    expect((await visit()).html).toContain('Your account is deleted after')
    await awaitDeliveries()
    const uri = /http:\S+\/account\/deletion/.exec(listInboxMessages(person.email)[0]?.body ?? '')?.[0]
    expect(new URL(uri ?? '').pathname).toBe(`/${ctx.tenant}/account${PATH}`)
    // Somebody who asked for it can still change their mind after the setting is gone.
    await updateSettings(ctx, { accountDeletionDays: 0 })
    const kept = await submit(PATH, { step: 'keep' })
    expect(kept.html).toContain('You keep your account.')
    expect((await visit()).html).not.toContain('Your account is deleted after')
  })

  test('says why it cannot keep the account when the changes of the hour are used up', async ({
    ctx,
    person,
    submit,
  }) => {
    await updateSettings(ctx, { accountDeletionDays: 7 })
    await submit(PATH, { step: 'delete' })
    const exhaust = () => {
      for (;;) takeChange(ctx.tenant, { userId: person.id, grantId: null })
    }
    expect(exhaust).toThrow('Too many changes of an account')
    const { html, response } = await submit(PATH, { step: 'keep' })
    expect(response.status).toBe(429)
    expect(html).toContain('role="alert"')
    expect(html).toContain('Keep my account')
    await updateSettings(ctx, { accountDeletionDays: 0 })
  })

  test('requires a sign-in of the last minutes to delete, and none to keep', async ({
    ctx,
    tenant,
    visit,
    submit,
    ageSignIn,
  }) => {
    await updateSettings(ctx, { accountDeletionDays: 7 })
    await submit(PATH, { step: 'delete' })
    await ageSignIn(16)
    expect((await submit(PATH, { step: 'keep' })).html).toContain('You keep your account.')
    expect((await visit(PATH)).path).toMatch(new RegExp(`^/${tenant}/signin/`))
    await updateSettings(ctx, { accountDeletionDays: 0 })
  })
})
