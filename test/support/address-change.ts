import type { GraphQLUnionType } from 'graphql'
import type { Ctx } from '../../src/context/context.ts'
import type { InboxMessage } from '../../src/delivery/inbox.ts'
import { buildSchema } from '../../src/server/graphql-schema.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { authenticateAs, type Caller, type SignedInPerson } from './account.ts'
import { inbox } from './calls.ts'
import { dbFor } from './database.ts'
import type { Json } from './json.ts'
import { makeSpa, type PersonClient, type SignedIn, type SignInOptions, signInAs } from './people.ts'
import { makeUser } from './protocol.ts'
import { test as base } from './tenant-per-test.ts'

/** A user with scope `account`, and the context of calls with the token. */
export type AccountHolder = SignedInPerson & { ctx: Ctx }
type NewHolder = { roles?: string[]; scope?: string; client?: PersonClient; [field: string]: unknown }

export const WRONG_CODE = { __typename: 'AuthenticationError', code: 'INVALID_CREDENTIAL' }
export const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000)
export const codeIn = (message?: InboxMessage) =>
  /\b(\d{6}|\d{5} \d{5})\b/.exec(message?.body ?? '')?.[1] ?? 'no code'
export const wrongCodeFor = (code: string) => (code === '123456' ? '654321' : '123456')

const USER = 'user { email emailVerified phoneNumber phoneNumberVerified }'
const SELECTIONS: Record<string, string> = {
  UpdateViewerPayload: USER,
  ConfirmEmailChangePayload: USER,
  ConfirmPhoneNumberChangePayload: USER,
  RemoveViewerPhoneNumberPayload: USER,
  RequestEmailChangePayload: 'sentTo',
  RequestPhoneNumberChangePayload: 'sentTo',
  ValidationError: 'code message fields { field description }',
  ConflictError: 'code message fields { field }',
  RateLimitedError: 'code message retryAfterSeconds',
  AuthenticationError: 'code message',
  StepUpRequiredError: 'code message maxAgeSeconds acrValues',
}

/** `test` with a tenant for each test, whose users change their addresses: budgets are counted by tenant. */
export const test = base
  .extend('spa', async ({ tenant, ctx }) => {
    await updateSettings(ctx, { friendlyName: 'Analytical Engines' })
    return makeSpa(tenant)
  })
  /** An address that no user of the tenant has. */
  .extend('fresh', ({ tenant }) => `new@${tenant}.example`)
  .extend(
    'signIn',
    ({ app, tenant, spa }) =>
      (
        email: string,
        { client = spa, ...options }: SignInOptions & { client?: PersonClient } = {},
      ): Promise<SignedIn> =>
        signInAs(app, tenant, client, email, options),
  )
  .extend('newHolder', ({ tenant, signIn }) => {
    let count = 0
    return async ({
      roles = [],
      scope = 'openid account',
      client,
      ...fields
    }: NewHolder = {}): Promise<AccountHolder> => {
      const email = `old${++count}@${tenant}.example`
      const user = await makeUser(tenant, email, fields)
      await dbFor(tenant).user.update({
        where: { tenantId_id: { tenantId: tenant, id: user.id } },
        data: { roles },
      })
      const signedIn = await signIn(email, { scope, ...(client && { client }) })
      return { email, ...signedIn, ctx: await authenticateAs(tenant, signedIn.token) }
    }
  })
  .extend('holder', ({ newHolder }) => newHolder())
  .extend('inbox', async () => inbox)
  /** The newest code that was sent to an address. */
  .extend('lastCode', async () => async (address: string) => codeIn((await inbox.list(address))[0]))
  /** Runs a mutation; returns every field of its result, or the errors of the operation. */
  .extend('run', ({ gql }) => async ({ token }: Caller, name: string, input: object): Promise<Json> => {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
    const members = (buildSchema().getType(`${type}Result`) as GraphQLUnionType).getTypes()
    const selection = members.map((member) => `... on ${member.name} { ${SELECTIONS[member.name]} }`)
    const document = `mutation ($input: ${type}Input!) { ${name}(input: $input) { __typename ${selection.join(' ')} } }`
    const { body } = await gql(document, { input }, { token })
    return body.data?.[name] ?? { errors: body.errors }
  })
  .extend(
    'findUser',
    ({ tenant }) =>
      ({ userId }: SignedIn) =>
        dbFor(tenant).user.findFirstOrThrow({ where: { tenantId: tenant, id: userId } }),
  )
  .extend('setVerified', ({ tenant }) => async ({ userId }: SignedIn, emailVerified: boolean) => {
    await dbFor(tenant).user.update({
      where: { tenantId_id: { tenantId: tenant, id: userId } },
      data: { emailVerified },
    })
  })
  .extend(
    'findPending',
    ({ tenant }) =>
      ({ userId }: SignedIn) =>
        dbFor(tenant).addressChange.findFirstOrThrow({ where: { tenantId: tenant, userId } }),
  )
  /** The row that counts codes sent to an address, and guesses of them. */
  .extend(
    'findPasscode',
    ({ tenant }) =>
      (address: string) =>
        dbFor(tenant).passcode.findFirstOrThrow({ where: { tenantId: tenant, address, origin: '' } }),
  )
