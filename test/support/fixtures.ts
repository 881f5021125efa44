import { test as base } from 'vitest'
import { SCOPE_NAMES, SYSTEM_TENANT } from '../../src/core/scopes.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import { ctxFor, newTenant, tokenFor } from './actors.ts'
import { startApp, type TestApp } from './app.ts'
import { bindCalls, bindEvents, bindProtocol, inbox } from './calls.ts'
import { closers } from './environment.ts'
import { PageBrowser } from './page-browser.ts'
import { makeSpa, type PersonClient, type SignedIn, type SignInOptions, signInAs } from './people.ts'
import { makeClient, makeUser } from './protocol.ts'

/** A user with a verified email address. */
export type Person = User & { email: string }

let running: Promise<TestApp> | undefined
/**
 * The program of this process: of all files of a worker in project `shared`, of one file in project `own`.
 */
export function openApp(): Promise<TestApp> {
  running ??= startApp().then((app) => {
    closers.push(app.close)
    return app
  })
  return running
}

/** `test` with the fixtures of Vestibule. Worker: one for all files of a process; file: one for each file. */
export const test = base
  /** The whole program on a free loopback port: management surface, protocol and hosted pages. */
  .extend('app', { scope: 'worker' }, () => openApp())
  /** Slug of a tenant that is the file's alone. */
  .extend('tenant', { scope: 'file' }, async () => {
    await openApp()
    return newTenant()
  })
  /** Access token of the tenant's machine client, with every scope that a tenant can give. */
  .extend('token', { scope: 'file' }, ({ tenant }) => tokenFor(tenant))
  /** Access token of a machine client of tenant `system`, with every scope. */
  .extend('systemToken', { scope: 'file' }, async () => {
    await openApp()
    return tokenFor(SYSTEM_TENANT, SCOPE_NAMES)
  })
  /** Context of the tenant's machine client, for calls of services without a transport. */
  .extend('ctx', { scope: 'file' }, ({ tenant }) => ctxFor(tenant))
  .extend('calls', { scope: 'file' }, ({ app, tenant, token }) => bindCalls(app, tenant, token))
  .extend('rest', { scope: 'file' }, ({ calls }) => calls.rest)
  .extend('gql', { scope: 'file' }, ({ calls }) => calls.gql)
  .extend('create', { scope: 'file' }, ({ calls }) => calls.create)
  /** Reader of the tenant's event log. */
  .extend('events', { scope: 'file' }, ({ tenant }) => bindEvents(tenant))
  .extend('inbox', { scope: 'file' }, async () => inbox)
  /** An email address of the tenant's own domain: the inbox is shared by every tenant of the process. */
  .extend(
    'email',
    { scope: 'file' },
    ({ tenant }) =>
      (name = 'ada') =>
        `${name}@${tenant}.example`,
  )
  /** Makes a client of appType web with a secret, for REDIRECT_URI. */
  .extend(
    'newClient',
    { scope: 'file' },
    ({ tenant }) =>
      (more: object = {}) =>
        makeClient(tenant, more),
  )
  .extend('client', { scope: 'file' }, ({ newClient }) => newClient())
  /** A single-page application of the tenant. */
  .extend('spa', { scope: 'file' }, ({ tenant }) => makeSpa(tenant))
  /** Makes a user with a verified email address. */
  .extend('newPerson', { scope: 'file' }, ({ tenant, email }) => {
    let count = 0
    return async (more: { email?: string; [field: string]: unknown } = {}): Promise<Person> => {
      const address = more.email ?? email(`person${++count}`)
      return { ...(await makeUser(tenant, address, more)), email: address }
    }
  })
  .extend('person', ({ newPerson }) => newPerson())
  .extend(
    'newBrowser',
    { scope: 'file' },
    ({ app }) =>
      () =>
        new PageBrowser(app.origin),
  )
  .extend('browser', ({ newBrowser }) => newBrowser())
  /** The tenant's protocol endpoints, as `client` calls them. */
  .extend('oidc', { scope: 'file' }, ({ app, tenant, client }) => bindProtocol(app, tenant, client))
  /** Signs a user in at `spa`, or at another client, through the hosted pages; returns the tokens. */
  .extend(
    'signIn',
    { scope: 'file' },
    ({ app, tenant, spa }) =>
      (
        address: string,
        { client = spa, ...options }: SignInOptions & { client?: PersonClient } = {},
      ): Promise<SignedIn> =>
        signInAs(app, tenant, client, address, options),
  )
