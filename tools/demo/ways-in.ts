import { setTimeout as sleep } from 'node:timers/promises'
import { startUpstream } from '../../test/support/upstream.ts'
import type { Admin } from './admin.ts'
import { Person } from './person.ts'

/** The time until a changed setting counts on every process. */
const SETTINGS_MS = 1500

export type WaysIn = {
  origin: string
  issuer: string
  admin: Admin
  step: (text: string) => void
  note: (text: string) => void
  /** A new link of the relying party, and what it makes of the redirect, in words. */
  createLink: () => Promise<{ url: URL; redeem: (landed: URL) => Promise<string> }>
}

const SET_SIGN_UP = `mutation ($signUp: SignUp!) {
  updateTenantSettings(input: {signUp: $signUp}) { ... on UserError { message } }
}`
const CREATE_PROVIDER = `mutation ($input: CreateIdentityProviderInput!) {
  createIdentityProvider(input: $input) { ... on UserError { message } }
}`
const DELETE_PROVIDER = `mutation ($id: ID!) {
  deleteIdentityProvider(input: {idpId: $id}) { ... on UserError { message } }
}`

/** A user creates a passkey after a sign-in by code, and signs in with it. */
export async function showPasskey(
  { origin, step, note, createLink }: WaysIn,
  address: string,
): Promise<void> {
  step('Another person is offered a passkey after the code, and uses it next time')
  const person = new Person(origin, address, note)
  const first = await createLink()
  note(await first.redeem(await person.signInAndCreatePasskey(first.url)))
  const next = await createLink()
  note(await next.redeem(await person.signInByPasskey(next.url)))
}

/** A person without an account creates one. */
export async function showSignUp({ origin, admin, step, note, createLink }: WaysIn): Promise<void> {
  step('A person without an account signs up, while the tenant permits it')
  const { tenant } = await admin.query<{ tenant: { settings: { signUp: string } } }>(
    '{ tenant { settings { signUp } } }',
  )
  await admin.change(SET_SIGN_UP, { signUp: 'OPEN' })
  try {
    await sleep(SETTINGS_MS)
    const { url, redeem } = await createLink()
    const person = new Person(origin, `new-${Date.now()}@demo.example`, note)
    note(await redeem(await person.signUp(url, 'New Visitor')))
  } finally {
    await admin.change(SET_SIGN_UP, { signUp: tenant.settings.signUp })
  }
}

/** A person signs in at an identity provider on this machine, and gets an account. */
export async function showProvider(ways: WaysIn): Promise<void> {
  const { origin, issuer, admin, step, note, createLink } = ways
  step('An identity provider (node-oidc-provider on this machine) is added, and a person signs in there')
  const id = `local-${Date.now()}`
  const upstream = await startUpstream(undefined, [`${issuer}/oidc/callback/${id}`])
  const { clientId, clientSecret } = upstream.client
  const input = { id, type: 'OIDC', name: 'Local provider', issuer: upstream.issuer, entry: 'ANYONE' }
  try {
    await admin.change(CREATE_PROVIDER, { input: { ...input, clientId, clientSecret } })
    await sleep(SETTINGS_MS)
    const { url, redeem } = await createLink()
    note(await redeem(await new Person(origin, 'none', note).signInAt(url, id, 'carol')))
  } finally {
    await admin.change(DELETE_PROVIDER, { id })
    upstream.close()
  }
}
