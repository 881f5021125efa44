import type { GraphQLUnionType } from 'graphql'
import { authenticateToken } from '../../src/access/authenticate.ts'
import type { Ctx } from '../../src/context/context.ts'
import type { Gql } from './calls.ts'
import { dbFor } from './database.ts'
import { test as base } from './fixtures.ts'
import type { Json } from './json.ts'
import type { SignedIn, SignInOptions } from './people.ts'
import { schema } from './schema.ts'
import { ageSignIn } from './sign-in-age.ts'

/** A caller, by access token. */
export type Caller = { token: string }
/** A user who has signed in, by email address. */
export type SignedInPerson = SignedIn & { email: string }
/** Runs a mutation of the viewer; returns its result, or the extensions of the first error. */
export type Mutate = (caller: Caller, name: string, input: object, selection?: string) => Promise<Json>

const ERRORS = '... on UserError { code message } ... on ValidationError { fields { field description } }'
const STEP_UP = '... on StepUpRequiredError { maxAgeSeconds acrValues }'

/** Whether the mutation may demand another sign-in. */
export const mayDemandStepUp = (name: string): boolean => {
  const union = schema.getMutationType()?.getFields()[name]?.type as GraphQLUnionType
  return union.getTypes().some((type) => type.name === 'StepUpRequiredError')
}

export const bindMutate =
  (gql: Gql): Mutate =>
  async ({ token }, name, input, selection = '') => {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`
    const document = `mutation ($input: ${type}!) { ${name}(input: $input) { __typename ${selection} ${ERRORS} ${mayDemandStepUp(name) ? STEP_UP : ''} } }`
    const { body } = await gql(document, { input }, { token })
    return body.data?.[name] ?? body.errors?.[0]?.extensions
  }

/** The context of the calls that a token authenticates. */
export async function authenticateAs(tenant: string, token: string): Promise<Ctx> {
  const target = { tenant, requestId: 'test', ip: '192.0.2.1', userAgent: null }
  return (await authenticateToken(target, `Bearer ${token}`)).ctx
}

/** Ends the pause after which an address of the tenant can be sent another code. */
export const resetCooldown = (tenant: string, address: string) =>
  dbFor(tenant).passcode.updateMany({ where: { tenantId: tenant, address }, data: { sentAt: new Date(0) } })

/**
 * Sets how many seconds ago the sign-in of a session, and of its grants, was; a negative age is in the
 * future.
 */
export async function setSignInAge(tenant: string, { sessionId }: SignedIn, seconds: number): Promise<void> {
  await ageSignIn(tenant, { id: sessionId }, seconds)
  const data = { authenticatedAt: new Date(Date.now() - seconds * 1000) }
  await dbFor(tenant).grant.updateMany({ where: { tenantId: tenant, sessionId }, data })
}

/** `test` with users who are signed in at `spa` with scope `account`. */
export const test = base
  .extend(
    'newSignedIn',
    { scope: 'file' },
    ({ newPerson, signIn }) =>
      async (options: SignInOptions = {}) => {
        const { email } = await newPerson()
        return { email, ...(await signIn(email, { scope: 'openid account', ...options })) }
      },
  )
  .extend('signedIn', ({ newSignedIn }) => newSignedIn())
  /** The status of a call with a token: 401 once it is revoked. */
  .extend('statusOf', { scope: 'file' }, ({ gql }) => async ({ token }: Caller) => {
    return (await gql('{ viewer { scopes } }', {}, { token })).status
  })
  .extend('mutate', { scope: 'file' }, ({ gql }) => bindMutate(gql))
