import type { Scope } from '../../src/core/scopes.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import type { LogEvent } from '../../src/events/log.ts'
import type { Client } from '../../src/generated/prisma/client.ts'
import { tokenFor } from './actors.ts'
import type { Answer, GraphqlBody, TestApp } from './app.ts'
import { logOf } from './events.ts'
import type { Json } from './json.ts'
import type { PageBrowser } from './page-browser.ts'
import {
  authorizePath,
  codeFor,
  exchange,
  refreshWith,
  signInAt,
  type TokenAnswer,
  tokenRequest,
  userinfoOf,
} from './protocol.ts'

/** Tenant and token of a call: by default the file's tenant and its machine client; null sends no token. */
export type CallOptions = { tenant?: string; token?: string | null; scopes?: readonly Scope[] }
/** A REST call; throws when the response violates openapi.json. */
export type Rest = (
  method: string,
  path: string,
  body?: unknown,
  options?: CallOptions,
) => Promise<Answer<Json>>
/** A GraphQL operation over HTTP; its body has no `extensions.cost`. */
export type Gql = (query: string, variables?: object, options?: CallOptions) => Promise<Answer<GraphqlBody>>
/** POSTs over REST and returns the body; throws unless the status is 201. */
export type Create = (path: string, body?: unknown, options?: CallOptions) => Promise<Json>

export type Calls = { rest: Rest; gql: Gql; create: Create }

/**
 * Calls of the management API for `tenant` by `token`. The option `scopes` uses a token with only these
 * scopes.
 */
export function bindCalls(app: TestApp, tenant: string, token: string): Calls {
  const callerFor = async (options: CallOptions) => {
    const target = options.tenant ?? tenant
    if (options.token !== undefined) return [target, options.token] as const
    if (options.scopes || target !== tenant) return [target, await tokenFor(target, options.scopes)] as const
    return [target, token] as const
  }
  const rest: Rest = async (method, path, body, options = {}) =>
    app.rest(...(await callerFor(options)), method, path, body)
  return {
    rest,
    gql: async (query, variables, options = {}) => app.gql(...(await callerFor(options)), query, variables),
    create: async (path, body = {}, options) => {
      const answer = await rest('POST', path, body, options)
      if (answer.status === 201) return answer.body
      throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    },
  }
}

type EventFilter = { type?: string; userId?: string; subjectId?: string; tenant?: string }
/** The log of the file's tenant, oldest first, or those events of it that match all of the filter. */
export type ReadEvents = (filter?: EventFilter) => Promise<LogEvent[]>

export const bindEvents =
  (ownTenant: string): ReadEvents =>
  async ({ tenant = ownTenant, type, userId, subjectId } = {}) =>
    (await logOf(tenant)).filter(
      (event) =>
        (type === undefined || event.type === type) &&
        (userId === undefined || event.userId === userId) &&
        (subjectId === undefined || event.subjectIds.includes(subjectId)),
    )

/** The messages that earlier files of the process sent: the inbox is shared by all tenants. */
const earlierMessages = new Set<string>()

/** Leaves the messages that were sent so far out of `inbox`. */
export async function skipEarlierMessages(): Promise<void> {
  await awaitDeliveries()
  earlierMessages.clear()
  for (const { id } of listInboxMessages()) earlierMessages.add(id)
}

/** The messages that the file sent, after pending deliveries have finished. */
export const inbox = {
  list: async (address: string) => {
    await awaitDeliveries()
    return listInboxMessages(address).filter(({ id }) => !earlierMessages.has(id))
  },
  /** The newest code that was sent to an address. */
  codeFor,
}

export type SecretClient = Pick<Client, 'id'> & { secret: string }
type Form = Record<string, string>

/** The protocol endpoints of the file's tenant, called by `by`, by default the file's client. */
export type Protocol = {
  authorizePath: (more?: Record<string, string | null>, by?: SecretClient) => string
  /** Signs in by a code on the hosted pages; returns where that leads: a consent page or the client. */
  signIn: (
    browser: PageBrowser,
    email: string,
    more?: Record<string, string | null>,
    by?: SecretClient,
  ) => ReturnType<typeof signInAt>
  exchange: (code: string, more?: Form, by?: SecretClient) => Promise<TokenAnswer>
  refresh: (refreshToken: string, more?: Form, by?: SecretClient) => Promise<TokenAnswer>
  token: (form: Form, by?: SecretClient | null, headers?: Form) => Promise<TokenAnswer>
  userinfo: (token: string) => Promise<Response>
}

export function bindProtocol(app: TestApp, tenant: string, client: SecretClient): Protocol {
  const pathFor: Protocol['authorizePath'] = (more, by = client) => authorizePath(tenant, by, more)
  return {
    authorizePath: pathFor,
    signIn: (browser, email, more, by) => signInAt(browser, pathFor(more, by), email),
    exchange: (code, more, by = client) => exchange(app, tenant, by, code, more),
    refresh: (refreshToken, more, by = client) => refreshWith(app, tenant, by, refreshToken, more),
    token: (form, by = client, headers) => tokenRequest(app, tenant, by, form, headers),
    userinfo: (token) => userinfoOf(app, tenant, token),
  }
}
