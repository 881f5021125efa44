import { noteCaller } from '../core/requests/record.ts'
import type { ClientScope, Scope } from '../core/scopes.ts'
import type { AnswerBytes, WorkloadKind } from '../core/workload.ts'
import { Handle } from '../database/handle.ts'
import type { LanguageSources } from '../model/language-sources.ts'

/**
 * The caller. `tenant` is the caller's own tenant, which differs from the target tenant for operators of
 * `system`.
 */
export type Actor =
  | { kind: 'anonymous' }
  | { kind: 'platform' }
  /** `clientScopes` are those of its token that are not scopes of management. */
  | { kind: 'client'; tenant: string; clientId: string; clientScopes?: ReadonlySet<ClientScope> }
  /** An API key of the tenant itself. */
  | { kind: 'key'; tenant: string; apiKeyId: string }
  | {
      kind: 'user'
      tenant: string
      userId: string
      clientId: string | null
      sessionId: string | null
      grantId: string | null
      /** The organization that the access token is for. */
      organizationId?: string | null
      /** The address of the caller, if the token is for an organization and the caller is the device of the user. */
      deviceIp?: string | null
      /** That organization, where the token permits to manage it and the user is an administrator of it. */
      administeredId?: string | null
      /** The user's API key; absent for an access token. */
      apiKeyId?: string
      /**
       * The scopes of the access token besides management scopes: they permit to read the user's own claims,
       * and `account` to read and change the user's own account.
       */
      oidcScopes?: ReadonlySet<string>
    }

/**
 * The first argument of every service: the target tenant, the caller, and the request as the event log
 * records it.
 */
export type Ctx = {
  /** The target tenant of the operation. `toTenantCtx` makes the context of another one. */
  readonly tenant: string
  /** The database for the tenant, within the limits of the workload. */
  readonly db: Handle
  actor: Actor
  /** Management scopes of the caller. */
  scopes: ReadonlySet<Scope>
  requestId: string
  ip: string | null
  userAgent: string | null
  /** The device of the user on whose behalf a backend calls, if it names one. */
  deviceId?: string | null | undefined
  /** What a management call counts as. Only those are limited. */
  readonly workload?: WorkloadKind | undefined
  /** The bytes of the answer; undefined where it is not counted. */
  answer?: AnswerBytes | undefined
  /** What the request for a page says about its language; undefined for the APIs. */
  language?: LanguageSources | undefined
}

/** Makes `members`, an object that nothing else uses, a context: adds its database. A copy costs as much as a statement. */
export const createCtx = (members: Omit<Ctx, 'db'>): Ctx => {
  const ctx: Omit<Ctx, 'db'> & { db?: Handle } = members
  ctx.db = new Handle(members)
  noteCaller(members)
  return ctx as Ctx
}

/** The context of the same caller in another tenant. */
export const toTenantCtx = (ctx: Ctx, tenant: string): Ctx => createCtx({ ...ctx, tenant })

/** The context whose statements count as those of lists. */
export const toListCtx = (ctx: Ctx, answer: AnswerBytes | undefined): Ctx =>
  createCtx({ ...ctx, workload: 'list', answer })

/**
 * The context of an action on a hosted page, once the user is authenticated. The event log records the user
 * and the client of the authorization request. The context carries no scopes and permits no change to the
 * user's own account.
 */
export const toUserCtx = (ctx: Ctx, { userId, sessionId = null, clientId = null }: UserIdentity): Ctx => {
  const actor: Actor = { kind: 'user', tenant: ctx.tenant, userId, clientId, sessionId, grantId: null }
  const userCtx = { ...ctx, actor, scopes: new Set<Scope>() }
  noteCaller(userCtx)
  return userCtx
}
type UserIdentity = { userId: string; sessionId?: string | null; clientId?: string | null }

/** The context of work without a caller: start, cleanup, command line. */
export const createPlatformCtx = (tenant: string): Ctx =>
  createCtx({
    tenant,
    actor: { kind: 'platform' },
    scopes: new Set(),
    requestId: 'platform',
    ip: null,
    userAgent: null,
  })
