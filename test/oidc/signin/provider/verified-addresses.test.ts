import { describe, expect } from 'vitest'
import { dbFor } from '../../../support/database.ts'
import { test as base, type Habits } from '../../../support/provider-habits.ts'

const DOMAIN = 'partner.example'
const email = `ada@${DOMAIN}`

const test = base
  .extend('newSubject', { scope: 'file' }, () => {
    let count = 0
    return () => `subject-${++count}`
  })
  .extend('byDomain', { scope: 'file' }, ({ newProvider }) =>
    newProvider({ entry: 'domains', domains: [DOMAIN], trustEmail: true }),
  )
  .extend('forAnyone', { scope: 'file' }, ({ newProvider }) =>
    newProvider({ entry: 'anyone', trustEmail: true }),
  )
  /** Whether a stranger enters by domain, and whether a new user gets the address. */
  .extend(
    'judge',
    ({ byDomain, forAnyone, signInWithHabits, findLinked, newSubject }) =>
      async (habits: (address: string) => Habits) => {
        const subject = newSubject()
        const address = `${subject}@${DOMAIN}`
        const { hasEntered } = await signInWithHabits(byDomain, subject, habits(address))
        const another = newSubject()
        const open = await signInWithHabits(forAnyone, another, habits(`${another}@${DOMAIN}`))
        expect(open.hasEntered).toBe(true)
        const user = await findLinked(forAnyone.id, another)
        expect(user?.emailVerified).toBe(user?.email != null)
        return { entersByDomain: hasEntered, hasAddress: user?.email != null }
      },
  )

const VERIFIED = { entersByDomain: true, hasAddress: true }
const UNVERIFIED = { entersByDomain: false, hasAddress: false }
const answer = (body: object) => ({ body })
const sub = (address: string) => address.split('@')[0]

describe('an address of a trusted provider', () => {
  const values: Record<string, [unknown, object]> = {
    true: [true, VERIFIED],
    '"true"': ['true', VERIFIED],
    false: [false, UNVERIFIED],
    '"false"': ['false', UNVERIFIED],
    '0': [0, UNVERIFIED],
    '1': [1, UNVERIFIED],
    '"no"': ['no', UNVERIFIED],
    '"yes"': ['yes', UNVERIFIED],
    '"TRUE"': ['TRUE', UNVERIFIED],
    '""': ['', UNVERIFIED],
    '[]': [[], UNVERIFIED],
    '[true]': [[true], UNVERIFIED],
    '{}': [{}, UNVERIFIED],
    null: [null, UNVERIFIED],
    'a lone surrogate': ['\ud800', UNVERIFIED],
    'a text of 70 KB': ['x'.repeat(70_000), UNVERIFIED],
  }
  test.for(Object.entries(values))(
    'is judged by email_verified: %s',
    async ([, [email_verified, expected]], { judge }) => {
      const claims = (address: string) => ({ email: address, email_verified })
      expect(await judge((address) => ({ idToken: claims(address) }))).toEqual(expected)
      expect(
        await judge((address) => ({ userInfo: answer({ sub: sub(address), ...claims(address) }) })),
      ).toEqual(expected)
    },
  )

  const combinations: Record<string, [(address: string) => Habits, object]> = {
    'counts where no answer speaks of its verification': [
      (address) => ({ idToken: { email: address }, userInfo: answer({ sub: sub(address) }) }),
      VERIFIED,
    ],
    'counts where both answers verify it, in other letters': [
      (address) => ({
        idToken: { email: address, email_verified: true },
        userInfo: answer({ sub: sub(address), email: address.toUpperCase(), email_verified: 'true' }),
      }),
      VERIFIED,
    ],
    'counts where userinfo has and verifies the address of the ID token': [
      (address) => ({
        idToken: { email: address },
        userInfo: answer({ sub: sub(address), email: address, email_verified: true }),
      }),
      VERIFIED,
    ],
    'does not count where userinfo denies that of the ID token': [
      (address) => ({
        idToken: { email: address },
        userInfo: answer({ sub: sub(address), email: address, email_verified: false }),
      }),
      UNVERIFIED,
    ],
    'does not count where userinfo denies it without an address': [
      (address) => ({
        idToken: { email: address, email_verified: true },
        userInfo: answer({ sub: sub(address), email_verified: false }),
      }),
      UNVERIFIED,
    ],
    'does not count where the ID token denies that of userinfo': [
      (address) => ({
        idToken: { email_verified: false },
        userInfo: answer({ sub: sub(address), email: address, email_verified: true }),
      }),
      UNVERIFIED,
    ],
    'does not count where the verification is about another address': [
      (address) => ({
        idToken: { email: address },
        userInfo: answer({ sub: sub(address), email: 'eve@evil.example', email_verified: true }),
      }),
      UNVERIFIED,
    ],
    'does not count where the answers name two verified addresses': [
      (address) => ({
        idToken: { email: address, email_verified: true },
        userInfo: answer({ sub: sub(address), email: 'eve@evil.example', email_verified: true }),
      }),
      UNVERIFIED,
    ],
    'does not count where its verification comes from the other answer': [
      (address) => ({
        idToken: { email_verified: true },
        userInfo: answer({ sub: sub(address), email: address }),
      }),
      UNVERIFIED,
    ],
    'does not count where the answer that may deny it fails': [
      (address) => ({ idToken: { email: address }, userInfo: { status: 500 } }),
      UNVERIFIED,
    ],
    'does not count where the access token for the answer that may deny it is too long': [
      (address) => ({
        idToken: { email: address },
        userInfo: answer({ sub: sub(address), email: address, email_verified: false }),
        tokens: { access_token: 'x'.repeat(20_001) },
      }),
      UNVERIFIED,
    ],
    'counts where the provider issues no access token': [
      (address) => ({ idToken: { email: address }, tokens: { access_token: undefined } }),
      VERIFIED,
    ],
    'counts where userinfo fails after an ID token that verifies it': [
      (address) => ({ idToken: { email: address, email_verified: true }, userInfo: { status: 500 } }),
      VERIFIED,
    ],
    'does not count where another claim denies it': [
      (address) => ({ idToken: { email: address, verified: false } }),
      UNVERIFIED,
    ],
    'does not count where the verification does not fit into what is stored': [
      (address) => ({
        idToken: {
          email: address,
          email_verified: 'no',
          ...Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`a${index}`, 'xxxxxxxx'])),
        },
      }),
      UNVERIFIED,
    ],
  }
  test.for(Object.entries(combinations))('%s', async ([, [habits, expected]], { judge }) => {
    expect(await judge(habits)).toEqual(expected)
  })

  test('that is not verified does not keep its owner from an account of their own', async ({
    tenant,
    forAnyone,
    signInWithHabits,
    findLinked,
  }) => {
    const claims = { email, email_verified: 'no', name: 'Mallory' }
    expect((await signInWithHabits(forAnyone, 'mallory', { idToken: claims })).hasEntered).toBe(true)
    expect(await findLinked(forAnyone.id, 'mallory')).toMatchObject({ name: 'Mallory', email: null })
    expect(await dbFor(tenant).user.count({ where: { tenantId: tenant, emailKey: email } })).toBe(0)
    const owner = { email, email_verified: true }
    expect((await signInWithHabits(forAnyone, 'owner', { idToken: owner })).hasEntered).toBe(true)
    const [stranger, found] = [
      await findLinked(forAnyone.id, 'mallory'),
      await findLinked(forAnyone.id, 'owner'),
    ]
    expect(found).toMatchObject({ email, emailVerified: true })
    expect(found?.id).not.toBe(stranger?.id)
  })
})
