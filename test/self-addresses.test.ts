import type { GraphQLUnionType } from 'graphql'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Ctx, scopesOfRoles } from '../src/ctx.ts'
import { dbFor } from '../src/db.ts'
import { type InboxMessage, listInbox } from '../src/delivery/inbox.ts'
import { buildSchema } from '../src/graphql/schema.ts'
import { authenticateToken } from '../src/oidc/token/access-tokens.ts'
import { settleDeliveries } from '../src/passcodes/send-passcode.ts'
import { confirmEmailChange } from '../src/self/confirm-address-change.ts'
import { RECENT_SIGN_IN_SECONDS } from '../src/self/own-access.ts'
import { requestEmailChange } from '../src/self/request-address-change.ts'
import { updateSettings } from '../src/tenants/settings.ts'
import { setUserRoles } from '../src/users/roles.ts'
import { createUser } from '../src/users/users.ts'
import { makeUser } from './oidc/provider.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { logOf } from './support/events.ts'
import { doneBy, makeSpa, type PersonClient, type SignedIn, signInAs } from './support/people.ts'

let app: TestApp
let tenant: string
let spa: PersonClient
/** An address of nobody in the tenant. */
let fresh: string
let people = 0
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())
// Budgets are counted by tenant.
beforeEach(async () => {
  tenant = await newTenant()
  await updateSettings(await ctxFor(tenant), { friendlyName: 'Analytical Engines' })
  spa = await makeSpa(tenant)
  fresh = `new@${tenant}.example`
})

type Person = SignedIn & { email: string; ctx: Ctx }
async function newPerson(more: object = {}, scope = 'openid account', client = spa): Promise<Person> {
  const email = `old${people++}@${tenant}.example`
  const { roles, ...fields } = { roles: [] as string[], ...more }
  const user = await makeUser(tenant, email, fields)
  const where = { tenantId_id: { tenantId: tenant, id: user.id } }
  await dbFor(tenant).user.update({ where, data: { roles } })
  return withCtx(email, await signInAs(app, tenant, client, email, { scope }))
}
async function withCtx(email: string, signedIn: SignedIn): Promise<Person> {
  const target = { tenant, requestId: 'test', ip: '192.0.2.1', userAgent: null }
  const { ctx } = await authenticateToken(target, `Bearer ${signedIn.token}`)
  return { email, ...signedIn, ctx }
}

const messagesTo = async (address: string): Promise<InboxMessage[]> => {
  await settleDeliveries()
  return listInbox(address)
}
const codeIn = (message?: InboxMessage) => /\b(\d{6})\b/.exec(message?.body ?? '')?.[1] ?? 'no code'
const lastCode = async (address: string) => codeIn((await messagesTo(address))[0])
const otherThan = (code: string) => (code === '123456' ? '654321' : '123456')

const SELECTIONS: Record<string, string> = {
  ViewerPayload: 'user { email emailVerified phoneNumber phoneNumberVerified }',
  RequestAddressChangePayload: 'sentTo',
  ValidationError: 'code message fields { field description }',
  ConflictError: 'code message fields { field }',
  RateLimitedError: 'code message retryAfterSeconds',
  AuthenticationError: 'code message',
}
/** Runs a mutation; all that its result has, or the errors of the operation. */
async function run(person: { token: string }, name: string, input: object) {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const members = (buildSchema().getType(`${type}Result`) as GraphQLUnionType).getTypes()
  const selection = members.map((member) => `... on ${member.name} { ${SELECTIONS[member.name]} }`)
  const document = `mutation ($input: ${type}Input!) { ${name}(input: $input) { __typename ${selection.join(' ')} } }`
  const { body } = await app.gql(tenant, person.token, document, { input })
  return body.data?.[name] ?? { errors: body.errors }
}
const rowOf = ({ userId }: Person) =>
  dbFor(tenant).user.findFirstOrThrow({ where: { tenantId: tenant, id: userId } })
const pendingOf = ({ userId }: Person) =>
  dbFor(tenant).addressChange.findFirstOrThrow({ where: { tenantId: tenant, userId } })
/** Makes a sign-in so many seconds old; of a negative age is one to come. */
const age = (person: Person, seconds: number) =>
  dbFor(tenant).session.update({
    where: { tenantId_id: { tenantId: tenant, id: person.sessionId } },
    data: { authenticatedAt: later(-seconds) },
  })
/** Lets an address be sent another code at once. */
const coolDown = () =>
  dbFor(tenant).passcode.updateMany({ where: { tenantId: tenant }, data: { sentAt: new Date(0) } })
const later = (seconds: number) => new Date(Date.now() + seconds * 1000)

describe('a change of the e-mail address', () => {
  test('is asked for, proven by a code at the new address, and told to the old one and the log', async () => {
    const person = await newPerson()
    const shown = `New@${tenant}.Example`
    const before = (await messagesTo(person.email)).length
    expect(await run(person, 'requestEmailChange', { email: shown })).toEqual({
      __typename: 'RequestAddressChangePayload',
      sentTo: shown,
    })
    const [mail] = await messagesTo(fresh)
    expect(mail).toMatchObject({ channel: 'email', subject: 'Confirm your address for Analytical Engines' })
    expect((await rowOf(person)).email).toBe(person.email)
    const { codeHash, address } = await pendingOf(person)
    expect([address, codeHash?.length]).toEqual([fresh, 32])
    const code = codeIn(mail).replace(/^(...)/, '$1 ')
    expect(await run(person, 'confirmEmailChange', { email: fresh, code })).toMatchObject({
      user: { email: shown, emailVerified: true },
    })
    const notices = await messagesTo(person.email)
    expect(notices).toHaveLength(before + 1)
    expect(notices[0]?.subject).toBe('Your e-mail address at Analytical Engines was changed')
    expect(notices[0]?.body).not.toContain('@')
    const own = await doneBy(tenant, person)
    expect(own).toMatchObject([
      { type: 'passcode.sent', detail: { channel: 'email', purpose: 'address-change' } },
      { type: 'user.updated', changedFields: ['email'], userId: person.userId },
    ])
    expect(JSON.stringify(own)).not.toContain(codeIn(mail))
    // The new address signs in, and the old one is nobody's.
    expect((await signInAs(app, tenant, spa, fresh, { scope: 'openid' })).userId).toBe(person.userId)
    await expect(signInAs(app, tenant, spa, person.email, { scope: 'openid' })).rejects.toThrow(/no code/)
  })

  test('that was not proven yet is proven so, without a notice', async () => {
    const person = await newPerson({ phoneNumber: '+41791112201', phoneNumberVerified: true })
    const where = { tenantId_id: { tenantId: tenant, id: person.userId } }
    await dbFor(tenant).user.update({ where, data: { emailVerified: false } })
    await run(person, 'requestEmailChange', { email: person.email })
    const code = await lastCode(person.email)
    expect(await run(person, 'confirmEmailChange', { email: person.email, code })).toMatchObject({
      user: { email: person.email, emailVerified: true },
    })
    expect(await messagesTo('+41791112201')).toEqual([])
    expect(await run(person, 'requestEmailChange', { email: person.email })).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ field: 'email', description: 'is yours already, and proven' }],
    })
  })

  test('takes one code, once, for one address, in the session that asked', async () => {
    const person = await newPerson()
    await run(person, 'requestEmailChange', { email: fresh })
    const code = await lastCode(fresh)
    const wrong = { __typename: 'AuthenticationError', code: 'INVALID_CREDENTIAL' }
    await coolDown()
    const other = await signInAs(app, tenant, spa, person.email, { scope: 'openid account' })
    expect(await run(other, 'confirmEmailChange', { email: fresh, code })).toMatchObject(wrong)
    expect(await run(person, 'confirmEmailChange', { email: 'other@example.com', code })).toMatchObject(wrong)
    const stranger = await newPerson()
    expect(await run(stranger, 'confirmEmailChange', { email: fresh, code })).toMatchObject(wrong)
    const right = await run(person, 'confirmEmailChange', { email: fresh, code })
    expect(right).toMatchObject({ user: { email: fresh } })
    expect(await run(person, 'confirmEmailChange', { email: fresh, code })).toMatchObject(wrong)
  })

  test('takes no code of a sign-in, and its code signs nobody in', async () => {
    const person = await newPerson()
    await run(person, 'requestEmailChange', { email: fresh })
    const code = await lastCode(fresh)
    const passcode = await dbFor(tenant).passcode.findFirstOrThrow({
      where: { tenantId: tenant, address: fresh },
    })
    expect(passcode).toMatchObject({ codeHash: null, userId: null })
    const { status } = await app.rest(tenant, await tokenFor(tenant), 'POST', '/passcodes/authenticate', {
      to: fresh,
      code,
    })
    expect(status).toBe(401)
  })

  test('expires after 10 minutes, and a new request voids the code before', async () => {
    const person = await newPerson()
    await requestEmailChange(person.ctx, { email: fresh })
    const first = await lastCode(fresh)
    const confirm = (code: string, at: Date) => confirmEmailChange(person.ctx, { email: fresh, code }, at)
    const wrong = { code: 'INVALID_CREDENTIAL' }
    await expect(confirm(first, later(601))).rejects.toMatchObject(wrong)
    await requestEmailChange(person.ctx, { email: fresh }, later(31))
    const second = await lastCode(fresh)
    if (second !== first) await expect(confirm(first, later(32))).rejects.toMatchObject(wrong)
    expect((await confirm(second, later(33))).email).toBe(fresh)
  })

  test('to an address that was taken meanwhile is a conflict: the index decides', async () => {
    const person = await newPerson()
    await run(person, 'requestEmailChange', { email: fresh })
    const code = await lastCode(fresh)
    await createUser(await ctxFor(tenant), { email: fresh, emailVerified: true })
    expect(await run(person, 'confirmEmailChange', { email: fresh, code })).toMatchObject({
      code: 'CONFLICT',
      fields: [{ field: 'email' }],
    })
    expect((await rowOf(person)).email).toBe(person.email)
  })

  test('of two people to one address goes to one of them', async () => {
    const [one, two] = [await newPerson(), await newPerson()]
    await run(one, 'requestEmailChange', { email: fresh })
    const first = await lastCode(fresh)
    await run(two, 'requestEmailChange', { email: fresh })
    const second = await lastCode(fresh)
    const results = await Promise.all([
      run(one, 'confirmEmailChange', { email: fresh, code: first }),
      run(two, 'confirmEmailChange', { email: fresh, code: second }),
    ])
    expect(results.map(({ __typename }) => __typename).sort()).toEqual(['ConflictError', 'ViewerPayload'])
  })
})

describe('security 39, 40: guesses', () => {
  test('20 at once: 5 are counted, and the right code is worth nothing after', async () => {
    const person = await newPerson()
    await run(person, 'requestEmailChange', { email: fresh })
    const code = await lastCode(fresh)
    const guess = { email: fresh, code: otherThan(code) }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => run(person, 'confirmEmailChange', guess)),
    )
    expect(new Set(answers.map(({ message }) => message))).toEqual(
      new Set(['The code is wrong or has expired.']),
    )
    expect((await pendingOf(person)).attempts).toBe(5)
    const { failureCount } = await dbFor(tenant).passcode.findFirstOrThrow({
      where: { tenantId: tenant, address: fresh },
    })
    expect(failureCount).toBe(5)
    expect(await run(person, 'confirmEmailChange', { email: fresh, code })).toMatchObject({
      code: 'INVALID_CREDENTIAL',
    })
    expect((await rowOf(person)).email).toBe(person.email)
  })

  test('20 times the right code at once: it works once', async () => {
    const person = await newPerson()
    await run(person, 'requestEmailChange', { email: fresh })
    const code = await lastCode(fresh)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => run(person, 'confirmEmailChange', { email: fresh, code })),
    )
    expect(answers.filter(({ __typename }) => __typename === 'ViewerPayload')).toHaveLength(1)
    const updates = (await logOf(tenant)).filter(({ type }) => type === 'user.updated')
    expect(updates).toHaveLength(1)
  })

  test('are 30 a day at an address, across codes and people', async () => {
    const [one, two] = [await newPerson(), await newPerson()]
    const wrong = { code: 'INVALID_CREDENTIAL' }
    for (let round = 0; round < 6; round++) {
      const [person, at] = [round % 2 ? one : two, later(40 * round)]
      await requestEmailChange(person.ctx, { email: fresh }, at)
      const code = otherThan(await lastCode(fresh))
      for (let guess = 0; guess < 5; guess++)
        await expect(confirmEmailChange(person.ctx, { email: fresh, code }, at)).rejects.toMatchObject(wrong)
    }
    const sent = (await messagesTo(fresh)).length
    const answer = await requestEmailChange(one.ctx, { email: fresh }, later(300))
    expect(answer).toEqual({ sentTo: fresh })
    expect(await messagesTo(fresh)).toHaveLength(sent)
    expect((await pendingOf(one)).codeHash).toBeNull()
  })

  test('are one an operation (security 41)', async () => {
    const person = await newPerson()
    const aliased = (name: string, input: string) =>
      app.gql(
        tenant,
        person.token,
        `mutation { a: ${name}(input: ${input}) { __typename } b: ${name}(input: ${input}) { __typename } }`,
      )
    for (const [name, input] of [
      ['confirmEmailChange', '{email: "a@example.com", code: "000000"}'],
      ['requestEmailChange', '{email: "a@example.com"}'],
      ['confirmPhoneNumberChange', '{phoneNumber: "+41791112233", code: "000000"}'],
      ['requestPhoneNumberChange', '{phoneNumber: "+41791112233"}'],
    ] as const)
      expect((await aliased(name, input)).body.errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX')
  })
})

describe('security 45: codes sent', () => {
  test('come 30 s apart, and 10 an hour to one person, wherever they go', async () => {
    const person = await newPerson()
    await requestEmailChange(person.ctx, { email: fresh })
    const soon = await run(person, 'requestEmailChange', { email: 'second@example.com' })
    expect(soon).toMatchObject({ __typename: 'RateLimitedError' })
    expect(soon.retryAfterSeconds).toBeLessThanOrEqual(30)
    for (let i = 1; i < 10; i++)
      await requestEmailChange(person.ctx, { email: `n${i}@example.com` }, later(31 * i))
    await expect(
      requestEmailChange(person.ctx, { email: 'n10@example.com' }, later(310)),
    ).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    await age(person, -3600)
    expect(await requestEmailChange(person.ctx, { email: 'n11@example.com' }, later(3601))).toEqual({
      sentTo: 'n11@example.com',
    })
  })

  test('are 10 an hour to one address, whoever asks, which nobody is told', async () => {
    const [one, two] = [await newPerson(), await newPerson()]
    for (let i = 0; i < 12; i++)
      await requestEmailChange((i % 2 ? one : two).ctx, { email: fresh }, later(20 * i))
    expect(await messagesTo(fresh)).toHaveLength(10)
  })
})

describe('security 46: an address of somebody else', () => {
  test('gets the same answer and no code, and no code confirms it', async () => {
    const [person, other] = [await newPerson(), await newPerson()]
    const free = await run(other, 'requestEmailChange', { email: 'free@example.com' })
    const before = (await messagesTo(other.email)).length
    const taken = await run(person, 'requestEmailChange', { email: other.email.toUpperCase() })
    expect({ ...taken, sentTo: '' }).toEqual({ ...free, sentTo: '' })
    expect(await messagesTo(other.email)).toHaveLength(before)
    expect(await pendingOf(person)).toMatchObject({ address: other.email, codeHash: null })
    const wrong = (who: Person, email: string) => run(who, 'confirmEmailChange', { email, code: '000001' })
    expect(await wrong(person, other.email)).toEqual(await wrong(other, 'free@example.com'))
    // Their own budget for signing in is untouched.
    const { sendCount } = await dbFor(tenant).passcode.findFirstOrThrow({
      where: { tenantId: tenant, address: other.email },
    })
    expect(sendCount).toBe(1)
  })
})

describe('security 33: a token alone is not enough', () => {
  const tooOld = {
    errors: [
      {
        extensions: {
          code: 'FORBIDDEN',
          challenge: 'insufficient_user_authentication',
          maxAgeSeconds: RECENT_SIGN_IN_SECONDS,
        },
      },
    ],
  }

  test('a sign-in of 15 minutes ago must be repeated, and the answer says how', async () => {
    const person = await newPerson({ phoneNumber: '+41791112202', phoneNumberVerified: true })
    await age(person, RECENT_SIGN_IN_SECONDS + 5)
    expect(await run(person, 'requestEmailChange', { email: fresh })).toMatchObject(tooOld)
    expect(await run(person, 'requestPhoneNumberChange', { phoneNumber: '+41791112203' })).toMatchObject(
      tooOld,
    )
    expect(await run(person, 'removeViewerPhoneNumber', { phoneNumber: '+41791112202' })).toMatchObject(
      tooOld,
    )
    expect(await messagesTo(fresh)).toEqual([])
    expect(await rowOf(person)).toMatchObject({ email: person.email, phoneNumber: '+41791112202' })
    // The browser is still signed in; max_age makes the person prove again who they are.
    await coolDown()
    const parameters = { max_age: String(RECENT_SIGN_IN_SECONDS) }
    const again = await signInAs(app, tenant, spa, person.email, {
      browser: person.browser,
      scope: 'openid account',
      parameters,
    })
    expect(await run(again, 'requestEmailChange', { email: fresh })).toMatchObject({ sentTo: fresh })
    // What the old token may do is as before: it is of the session before, which has ended.
    expect((await app.gql(tenant, person.token, '{ viewer { scopes } }')).status).toBe(401)
  })

  test('refreshing a token makes the sign-in no younger', async () => {
    const person = await newPerson({}, 'openid account offline_access')
    await age(person, RECENT_SIGN_IN_SECONDS + 5)
    const response = await app.fetch(`/${tenant}/oidc/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: spa.id,
        refresh_token: person.answer.refresh_token ?? '',
      }),
    })
    const { access_token: token } = (await response.json()) as { access_token: string }
    expect(await run({ token }, 'requestEmailChange', { email: fresh })).toMatchObject(tooOld)
    expect(await run({ token }, 'updateViewer', { fields: { name: 'Ada' } })).toMatchObject({
      __typename: 'ViewerPayload',
    })
  })

  test('whoever has a role needs a token with its scopes: no application comes by an administrator’s account', async () => {
    const plain = await newPerson({ roles: ['support'] })
    const [refusal] = (await run(plain, 'requestEmailChange', { email: fresh })).errors ?? []
    expect(refusal).toMatchObject({ extensions: { code: 'FORBIDDEN' } })
    expect(refusal?.message).toContain('users:write')
    expect(await messagesTo(fresh)).toEqual([])
    const scopes = [...scopesOfRoles(['support'])]
    const frontend = await makeSpa(tenant, { scopes })
    const able = await newPerson({ roles: ['support'] }, `openid account ${scopes.join(' ')}`, frontend)
    expect(await run(able, 'requestEmailChange', { email: fresh })).toMatchObject({ sentTo: fresh })
    const code = await lastCode(fresh)
    expect(await run(able, 'confirmEmailChange', { email: fresh, code })).toMatchObject({
      user: { email: fresh },
    })
  })

  test('nor by one that is granted while the code is on its way', async () => {
    const person = await newPerson()
    await run(person, 'requestEmailChange', { email: fresh })
    const code = await lastCode(fresh)
    await setUserRoles(await ctxFor(tenant), person.userId, { roles: ['admin'] })
    const { errors } = await run(person, 'confirmEmailChange', { email: fresh, code })
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
    expect(await rowOf(person)).toMatchObject({ email: person.email })
  })
})

describe('a change of the phone number', () => {
  test('is proven by text message, and told by mail', async () => {
    const person = await newPerson()
    const before = (await messagesTo(person.email)).length
    const phoneNumber = '+41791112204'
    const asked = await run(person, 'requestPhoneNumberChange', { phoneNumber: '+41 79 111 22 04' })
    expect(asked).toMatchObject({ sentTo: phoneNumber })
    const [sms] = await messagesTo(phoneNumber)
    expect(sms).toMatchObject({ channel: 'sms', body: expect.stringContaining('Analytical Engines') })
    const code = codeIn(sms)
    expect(await run(person, 'confirmPhoneNumberChange', { phoneNumber, code })).toMatchObject({
      user: { phoneNumber, phoneNumberVerified: true, email: person.email },
    })
    const notices = await messagesTo(person.email)
    expect(notices).toHaveLength(before + 1)
    expect(notices[0]?.subject).toBe('Your phone number at Analytical Engines was changed')
    expect((await logOf(tenant)).at(-1)).toMatchObject({
      type: 'user.updated',
      changedFields: ['phoneNumber', 'phoneNumberVerified'],
      actorUserId: person.userId,
    })
  })

  test('takes a number that a text message can go to', async () => {
    const person = await newPerson()
    for (const phoneNumber of ['079 111 22 04', 'ada@example.com', '+41791112204;ext=5', ''])
      expect(await run(person, 'requestPhoneNumberChange', { phoneNumber })).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: [{ field: 'phoneNumber' }],
      })
    expect(await run(person, 'requestEmailChange', { email: '+41791112204' })).toMatchObject({
      fields: [{ field: 'email' }],
    })
  })

  test('to none needs a proven e-mail address', async () => {
    const phoneNumber = '+41791112205'
    const person = await newPerson({ phoneNumber, phoneNumberVerified: true })
    const where = { tenantId_id: { tenantId: tenant, id: person.userId } }
    const remove = (number = phoneNumber) => run(person, 'removeViewerPhoneNumber', { phoneNumber: number })
    await dbFor(tenant).user.update({ where, data: { emailVerified: false } })
    expect(await remove()).toMatchObject({ code: 'BAD_USER_INPUT' })
    await dbFor(tenant).user.update({ where, data: { emailVerified: true } })
    expect(await remove('+41791112206')).toMatchObject({ fields: [{ description: 'is not yours' }] })
    expect((await rowOf(person)).phoneNumber).toBe(phoneNumber)
    expect(await remove()).toMatchObject({ user: { phoneNumber: null, phoneNumberVerified: false } })
    expect(await remove()).toMatchObject({ code: 'BAD_USER_INPUT' })
  })
})
