import { describe, expect } from 'vitest'
import { cancelViewerDeletion, requestViewerDeletion } from '../../src/account/account-deletion.ts'
import { STEP_UP_MAX_AGE_SECONDS } from '../../src/account/step-up.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { deleteDueUsers } from '../../src/users/deletion/due-deletions.ts'
import { lockUser, unlockUser } from '../../src/users/users.ts'
import { authenticateAs, test as base, type Caller, setSignInAge } from '../support/account.ts'
import { dbFor } from '../support/database.ts'
import type { SignedIn } from '../support/people.ts'
import { countStatements } from '../support/statements.ts'

const DAYS = 14
const DAY_MS = 86_400_000
const toMutation = (requested: boolean) => `mutation { setViewerDeletion(input: {requested: ${requested}}) {
  ... on SetViewerDeletionPayload { deletion { requestedAt dueAt } } ... on ValidationError { fields { field } }
  ... on StepUpRequiredError { maxAgeSeconds } } }`
const [REQUEST, CANCEL] = [toMutation(true), toMutation(false)]
const READ = '{ viewer { deletion { requestedAt dueAt } } }'

/** In a tenant whose users may delete their accounts. */
const test = base
  .extend('permitting', { scope: 'file', auto: true }, async ({ ctx }) => {
    await updateSettings(ctx, { accountDeletionDays: DAYS })
    return ctx.tenant
  })
  .extend('run', { scope: 'file' }, ({ gql }) => async (document: string, { token }: Caller) => {
    const { body } = await gql(document, {}, { token })
    return body.errors?.[0]?.extensions ?? body.data
  })
  .extend(
    'authenticate',
    { scope: 'file' },
    ({ tenant }) =>
      ({ token }: Caller) =>
        authenticateAs(tenant, token),
  )
  /** The messages to an address about the deletion. */
  .extend('listNotices', { scope: 'file' }, ({ inbox }) => async (address: string) => {
    await awaitDeliveries()
    return (await inbox.list(address)).filter(({ subject }) => /delete/.test(subject ?? ''))
  })
  /** Lets the request of a user be due. */
  .extend('makeDue', { scope: 'file' }, ({ tenant }) => async ({ userId }: SignedIn) => {
    const data = { dueAt: new Date() }
    await dbFor(tenant).accountDeletion.updateMany({ where: { tenantId: tenant, userId }, data })
  })
  .extend(
    'hasUser',
    { scope: 'file' },
    ({ tenant }) =>
      async ({ userId }: SignedIn) =>
        (await dbFor(tenant).user.count({ where: { tenantId: tenant, id: userId } })) === 1,
  )

describe('requestViewerDeletion', () => {
  test('stores one request, and sends a message with the way to keep the account', async ({
    tenant,
    events,
    signedIn,
    run,
    listNotices,
  }) => {
    const { requestedAt, dueAt } = (await run(REQUEST, signedIn)).setViewerDeletion.deletion
    expect(Date.parse(dueAt) - Date.parse(requestedAt)).toBe(DAYS * DAY_MS)
    expect((await run(REQUEST, signedIn)).setViewerDeletion.deletion).toEqual({ requestedAt, dueAt })
    expect((await run(READ, signedIn)).viewer.deletion).toEqual({ requestedAt, dueAt })
    const [notice, ...others] = await listNotices(signedIn.email)
    expect(others).toEqual([])
    expect(notice?.subject).toBe(`Your account at ${tenant} will be deleted`)
    expect(notice?.body).toContain(`http://localhost:3000/${tenant}/account/deletion`)
    expect(await events({ type: 'user.deletion_requested', userId: signedIn.userId })).toMatchObject([
      { detail: { due_at: dueAt }, actorUserId: signedIn.userId },
    ])
  })

  test('requires the setting and a recent sign-in', async ({ ctx, tenant, newSignedIn, run }) => {
    const signedIn = await newSignedIn()
    await updateSettings(ctx, { accountDeletionDays: null })
    expect((await run(REQUEST, signedIn)).setViewerDeletion).toEqual({ fields: [{ field: 'requested' }] })
    await updateSettings(ctx, { accountDeletionDays: DAYS })
    await setSignInAge(tenant, signedIn, STEP_UP_MAX_AGE_SECONDS + 5)
    expect(await run(REQUEST, signedIn)).toEqual({
      setViewerDeletion: { maxAgeSeconds: STEP_UP_MAX_AGE_SECONDS },
    })
    expect((await run(READ, signedIn)).viewer.deletion).toBeNull()
  })

  test('sends two statements', async ({ authenticate, signedIn }) => {
    const ctx = await authenticate(signedIn)
    expect(await countStatements(() => requestViewerDeletion(ctx))).toBe(2)
    expect(await countStatements(() => cancelViewerDeletion(ctx))).toBe(1)
  })
})

describe('cancelViewerDeletion', () => {
  test('keeps the account, also after an old sign-in', async ({
    tenant,
    events,
    signedIn,
    run,
    listNotices,
    makeDue,
    hasUser,
  }) => {
    await run(REQUEST, signedIn)
    await makeDue(signedIn)
    await setSignInAge(tenant, signedIn, STEP_UP_MAX_AGE_SECONDS + 5)
    for (let times = 0; times < 2; times++)
      expect((await run(CANCEL, signedIn)).setViewerDeletion).toEqual({ deletion: null })
    await deleteDueUsers()
    expect(await hasUser(signedIn)).toBe(true)
    const subjects = (await listNotices(signedIn.email)).map(({ subject }) => subject)
    expect(subjects).toContain(`Your account at ${tenant} will not be deleted`)
    expect(await events({ type: 'user.deletion_canceled', userId: signedIn.userId })).toHaveLength(1)
  })
})

describe('deleteDueUsers', () => {
  test('deletes users when they are due, with their sessions, and sends them a message', async ({
    tenant,
    events,
    newSignedIn,
    run,
    listNotices,
    makeDue,
    hasUser,
  }) => {
    const [due, waiting] = [await newSignedIn(), await newSignedIn()]
    for (const user of [due, waiting]) await run(REQUEST, user)
    await makeDue(due)
    await deleteDueUsers()
    expect([await hasUser(due), await hasUser(waiting)]).toEqual([false, true])
    const subjects = (await listNotices(due.email)).map(({ subject }) => subject)
    expect(subjects).toContain(`Your account at ${tenant} was deleted`)
    expect((await events({ type: 'user.deleted', userId: due.userId })).length).toBe(1)
    expect(await run(READ, due)).toMatchObject({ code: 'UNAUTHENTICATED' })
    expect((await run(READ, waiting)).viewer.deletion).not.toBeNull()
  })

  test('leaves a locked user until the lock is removed', async ({ ctx, signedIn, run, makeDue, hasUser }) => {
    await run(REQUEST, signedIn)
    await makeDue(signedIn)
    await lockUser(ctx, signedIn.userId)
    await deleteDueUsers()
    expect(await hasUser(signedIn)).toBe(true)
    await unlockUser(ctx, signedIn.userId)
    await deleteDueUsers()
    expect(await hasUser(signedIn)).toBe(false)
  })

  test('deletes a user or accepts the cancellation, never both', async ({
    authenticate,
    newSignedIn,
    run,
    makeDue,
    hasUser,
  }) => {
    for (let round = 0; round < 10; round++) {
      const user = await newSignedIn()
      await run(REQUEST, user)
      await makeDue(user)
      const ctx = await authenticate(user)
      const [{ isCanceled }] = await Promise.all([
        cancelViewerDeletion(ctx),
        deleteDueUsers(),
        deleteDueUsers(),
      ])
      expect(await hasUser(user)).toBe(isCanceled)
    }
  })
})

describe('the request of a user', () => {
  test('is shown to administrators, by one statement for all users of a list', async ({
    gql,
    rest,
    signedIn,
    person,
    authenticate,
  }) => {
    const { dueAt } = await requestViewerDeletion(await authenticate(signedIn))
    const { body } = await gql('query ($id: ID!) { user(id: $id) { deletion { dueAt } } }', {
      id: signedIn.userId,
    })
    expect(body.data.user.deletion).toEqual({ dueAt: dueAt.toISOString() })
    const answer = await rest('GET', `/users/${signedIn.userId}/deletion`)
    expect(answer.body).toMatchObject({ deletion: { dueAt: dueAt.toISOString() } })
    const statements = await countStatements(() =>
      gql('{ users(first: 50) { nodes { id deletion { dueAt } } } }'),
    )
    expect(statements).toBeLessThanOrEqual(4)
    await cancelViewerDeletion(await authenticate(signedIn))
    expect((await rest('GET', `/users/${person.id}/deletion`)).body).toEqual({ deletion: null })
  })
})
